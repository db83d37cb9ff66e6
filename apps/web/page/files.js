// The page's own files: fetched from a server; a page that was opened from a folder may not fetch, and loads them as scripts.

function scriptOf(path) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = path;
    script.onload = () => resolve(globalThis.tidemarkFiles[path]);
    script.onerror = () => reject(new Error(`${path} is missing`));
    document.head.append(script);
  });
}

export async function bytesOf(path) {
  if (location.protocol === "file:") return Uint8Array.from(atob(await scriptOf(`${path}.js`)), (character) => character.charCodeAt(0));
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/// Where a script for a worker is: a page that was opened from a folder may have none but of its own making.
export async function workerUrl(path) {
  if (location.protocol !== "file:") return path;
  return URL.createObjectURL(new Blob([await scriptOf(`${path}.js`)], { type: "text/javascript" }));
}

/// A captured program by its name, "5.17.0/granite".
export const programText = (name) => scriptOf(`programs/${name}.js`);
