import type { Page } from "playwright-core"
import { expect } from "vitest"

const dateOf = (header: string | null) => Date.parse(header ?? "")

/**
 * Opens a page and waits until its event stream has started and a second has passed. `Date` headers
 * have second precision. If a stream might have missed events, it starts with a reset, which causes
 * a refetch.
 */
export const openWithLiveEvents = async (
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
