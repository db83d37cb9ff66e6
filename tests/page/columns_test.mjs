// A line of many points in few columns of pixels.
import assert from "node:assert/strict";
import { test } from "node:test";

import { highestInColumns } from "../../apps/web/page/columns.js";

test("a column of pixels has the highest value in it", () => {
  const xs = Array.from({ length: 2000 }, (_, i) => i);
  const ys = xs.map((x) => (x === 777 ? 100 : x % 7));
  for (const count of [1, 7, 300, 1999, 4001]) assert.equal(Math.max(...highestInColumns(xs, ys, 0, 1999, count)), 100, `${count} columns`);
  assert.deepEqual([...highestInColumns([0, 5, 10], [1, 9, 2], 0, 10, 4)], [1, 1, 9, 9]);
  assert.deepEqual([...highestInColumns([0, 5, 10], [1, 9, 2], 6, 8, 2)], [9, 9]);
});
