import type { Page } from "playwright-core"

/**
 * Holds back the matching requests until the test releases them. `isHeld` resolves when the first
 * one has been sent.
 */
export const holdRequests = async (page: Page, url: string | RegExp, method = "GET") => {
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    held.resolve()
    await released.promise
    await route.fallback()
  })
  return { isHeld: held.promise, release: released.resolve }
}
