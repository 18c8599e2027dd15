// Waiting until a page has stopped moving.

/** Waits for the end of the animations that have one; positions and colours are final then. */
export function animationsEnded(page) {
  return page.evaluate(async () => {
    const ending = document.getAnimations().filter((animation) => animation.effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map((animation) => animation.finished));
  });
}
