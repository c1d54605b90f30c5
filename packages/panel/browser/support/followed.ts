import type { Page } from "playwright-core"
import { expect } from "vitest"

const dateOf = (header: string | null) => Date.parse(header ?? "")

/**
 * Begins to follow the workspace of a page, by whatever `open` does, and waits until a page that is
 * opened next need not read again what it has read. `Date` has no parts of a second, and what may
 * have been before the workspace was followed is a reset.
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
