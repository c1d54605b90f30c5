import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { password, createUser } from "./support/users.ts"

/** Returns the focused element's accessible name. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    const label = (element as HTMLInputElement | null)?.labels?.[0]
    return (
      element?.getAttribute("aria-label") ??
      label?.textContent ??
      element?.textContent ??
      ""
    ).trim()
  })

/** Presses Tab until the element with this name is focused. */
const tabTo = async (page: Page, name: RegExp): Promise<void> => {
  for (let presses = 0; presses < 80; presses++) {
    if (name.test(await focused(page))) return
    await page.keyboard.press("Tab")
  }
  throw new Error(`the tab key does not lead to ${name}`)
}

describe.skipIf(skipReason !== undefined)("with the keyboard", () => {
  const panel = usePanel()

  it("a user signs in, creates a task, runs it and deletes it", async () => {
    const person = await createUser(panel.url())
    const { page, problems } = await panel.open()
    const { keyboard } = page
    const type = async (field: RegExp, text: string) => {
      await tabTo(page, field)
      await keyboard.type(text)
    }
    await page.goto(`${panel.url()}/sign-in`)
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await type(/^Email$/, person.email)
    await type(/^Password$/, password)
    await keyboard.press("Enter")
    await page.getByRole("heading", { name: "Overview" }).waitFor()

    await keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search" }).waitFor()
    await keyboard.type("new cron")
    await page.getByRole("option", { name: /New cron task/, selected: true }).waitFor()
    await keyboard.press("Enter")
    await page.getByRole("heading", { name: "New cron task" }).waitFor()
    await type(/^Name$/, "By hand")
    await type(/^Schedule$/, "0 3 * * *")
    await type(/^URL$/, `${panel.url()}/v1/echo`)
    await keyboard.press("Enter")
    await page.getByRole("heading", { name: "By hand" }).waitFor()

    await tabTo(page, /^Run now$/)
    await keyboard.press("Enter")
    await page.getByRole("row", { name: /Succeeded.*200/ }).waitFor()
    expect(await focused(page)).toBe("Run now")

    await tabTo(page, /^Actions for By hand$/)
    await keyboard.press("ArrowDown")
    await page.getByRole("menuitem", { name: "Run now" }).waitFor()
    await expect.poll(() => focused(page)).toBe("Run now")
    await keyboard.press("d")
    expect(await focused(page)).toBe("Duplicate")
    await keyboard.press("Escape")
    expect(await focused(page)).toBe("Actions for By hand")

    await keyboard.press("Enter")
    await expect.poll(() => focused(page)).toBe("Run now")
    await keyboard.press("End")
    expect(await focused(page)).toBe("Delete")
    await keyboard.press("Enter")
    await page.getByRole("dialog", { name: "Delete By hand?" }).waitFor()
    await keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "hidden" })
    await tabTo(page, /^Actions for By hand$/)
    await keyboard.press("Enter")
    await expect.poll(() => focused(page)).toBe("Run now")
    await keyboard.press("End")
    await keyboard.press("Enter")
    await page.getByRole("dialog").waitFor()
    await tabTo(page, /^Delete$/)
    await keyboard.press("Enter")
    await page.getByText("No cron tasks yet").waitFor()
    expect(problems).toEqual([])
  })

  it("a user skips the navigation and moves through the rows of a list", async () => {
    const { page, person } = await panel.openAs()
    for (const name of ["First", "Second"]) {
      await person.client.cron.create({ name, schedule: "0 3 * * *", url: panel.url() })
    }
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    await page.getByRole("row", { name: /First/ }).waitFor()
    await page.keyboard.press("Tab")
    expect(await focused(page)).toBe("Skip to content")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    expect(await focused(page)).toBe("New cron task")
    await tabTo(page, /^Select Second$/)
    await page.keyboard.press("Space")
    await page.getByText("1 selected").waitFor()
    await page.keyboard.press("Tab")
    expect(await focused(page)).toBe("Second")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Second" }).waitFor()
  })
})
