import type { Page } from "playwright-core"
import { expect } from "vitest"

const dateOf = (header: string | null) => Date.parse(header ?? "")

/**
 * Opens a page and waits until its event stream has begun and a second has passed. `Date` headers have
 * whole seconds, and a stream that may have missed events begins with a reset, which refetches.
 */
export const follow = async (
  page: Page,
  url: string,
  open: () => Promise<unknown>
): Promise<void> => {
  const isFollowed = page.waitForResponse("**/events")
  await open()
  const begun = dateOf(await (await isFollowed).headerValue("date"))
  const nowThere = async () => dateOf((await fetch(`${url}/v1/health`)).headers.get("date"))
  await expect.poll(nowThere).toBeGreaterThan(begun + 1_000)
}
