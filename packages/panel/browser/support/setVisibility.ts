import type { Page } from "playwright-core"

/** Simulates switching to another tab or back. */
export const setVisibility = (page: Page, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate((visibilityState) => {
    Object.defineProperties(document, {
      hidden: { configurable: true, value: visibilityState === "hidden" },
      visibilityState: { configurable: true, value: visibilityState }
    })
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  }, state)
