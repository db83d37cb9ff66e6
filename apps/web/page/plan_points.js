// A plan as points of memory and time.

/// What can be drawn of a plan, from little memory to much.
export function pointsOf(plan) {
  const all = [...plan.answers.map((one) => [one, "fits"]), ...plan.refused.map((one) => [one, "refused"]), ...(plan.least ? [[plan.least, "least"]] : [])];
  return all.filter(([one]) => one.step_seconds.estimate > 0)
    .map(([one, kind]) => ({ bytes: one.peak.device_bytes, seconds: one.step_seconds.estimate, low: one.step_seconds.low, high: one.step_seconds.high, kind, one }))
    .sort((a, b) => a.bytes - b.bytes);
}
