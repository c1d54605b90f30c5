import type { Page } from "playwright-core"

/** As if the reader had gone to another tab, or come back. */
export const look = (page: Page, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate((visibilityState) => {
    Object.defineProperties(document, {
      hidden: { configurable: true, value: visibilityState === "hidden" },
      visibilityState: { configurable: true, value: visibilityState }
    })
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  }, state)
