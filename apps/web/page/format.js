// Bytes for people.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// Three digits or four, as the command shows them.
export function size(bytes) {
  let unit = 0;
  for (; Math.abs(bytes) >= (unit === 0 ? 1024 : 1023.5) && unit < UNITS.length - 1; unit++) bytes /= 1024;
  const whole = Math.abs(bytes);
  return `${unit === 0 ? bytes : bytes.toFixed(whole < 9.995 ? 2 : whole < 99.95 ? 1 : 0)} ${UNITS[unit]}`;
}

/// Of a step, as the command shows it.
export function duration(seconds) {
  if (seconds <= 0) return "-";
  if (seconds < 0.0995) return `${(seconds * 1000).toFixed(0)} ms`;
  return `${seconds < 999.5 ? Number(seconds.toPrecision(3)) : Math.round(seconds)} s`;
}

export const exactly = (bytes) => `${bytes.toLocaleString("en-US")} bytes`;

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/// A colour of the style sheet, for what is painted.
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
