// Bytes for people.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// Three digits, as the command shows them.
export function size(bytes) {
  let unit = 0;
  for (; Math.abs(bytes) >= 1023.5 && unit < UNITS.length - 1; unit++) bytes /= 1024;
  return `${unit === 0 ? bytes : Number(bytes).toPrecision(3)} ${UNITS[unit]}`;
}

export const exactly = (bytes) => `${bytes.toLocaleString("en-US")} bytes`;

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
