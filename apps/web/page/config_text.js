// config.json as Python writes it: JSON, and numbers that JSON has not.

/// Throws SyntaxError.  What is infinite or no number becomes null.
export function parseConfig(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const plain = text.replace(/"(?:[^"\\]|\\.)*"|-?Infinity\b|\bNaN\b/g, (found) => (found.startsWith('"') ? found : "null"));
    if (plain === text) throw error;
    return JSON.parse(plain);
  }
}
