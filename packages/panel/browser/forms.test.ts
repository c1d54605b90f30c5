import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { password, signIn, createUser } from "./support/users.ts"

/** Returns the focused field's name. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null
    return element?.getAttribute("aria-label") ?? element?.labels?.[0]?.textContent ?? ""
  })

const fillCron = async (page: Page, url: string) => {
  await page.getByLabel("Name", { exact: true }).fill("Nightly")
  await page.getByLabel("URL", { exact: true }).fill(url)
  await page.getByRole("textbox", { name: "Schedule" }).fill("0 3 * * *")
}

describe.skipIf(skipReason !== undefined)("a form", () => {
  const panel = usePanel()

  it("opens the section of a field that the browser rejects", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await fillCron(page, `${panel.url()}/v1/echo`)
    const section = page.getByText("Seconds, dates, jitter and pauses")
    await section.click()
    const jitter = page.getByLabel("Jitter (seconds)")
    await jitter.fill("99999999")
    await section.click()
    await jitter.waitFor({ state: "hidden" })
    await page.getByRole("button", { name: "Create cron task" }).click()
    await jitter.waitFor()
    await expect.poll(() => focused(page)).toBe("Jitter (seconds)")
  })

  it("focuses the first rejected field and names all of them at its button", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await fillCron(page, `${panel.url()}/v1/echo`)
    const section = page.getByText("Seconds, dates, jitter and pauses")
    await section.click()
    const days = page.getByLabel("Excluded days", { exact: true })
    await days.fill("2026-13-45")
    await section.click()
    await page.getByText("Advanced").click()
    await page.getByLabel("Success status codes").fill("abc")
    await page.getByText("Advanced").click()
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByText("2 fields need attention: Excluded days, Success status codes").waitFor()
    await expect.poll(() => focused(page)).toBe("Excluded days")
    await expect
      .poll(() =>
        days.evaluate((field) => {
          const { bottom, top } = field.getBoundingClientRect()
          return top >= 0 && bottom <= innerHeight
        })
      )
      .toBe(true)
  })

  it("asks before unsaved input is lost", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    const away = page.getByRole("navigation").getByRole("link", { name: "Queues" })
    await away.click()
    await page.getByRole("heading", { name: "Queues" }).waitFor()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await fillCron(page, `${panel.url()}/v1/echo`)
    await away.click()
    const asked = page.getByRole("dialog", { name: "Leave without saving?" })
    await asked.getByRole("button", { name: "Not now" }).click()
    await asked.waitFor({ state: "hidden" })
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Nightly")
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByRole("heading", { name: "Nightly" }).waitFor()
    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByLabel("Name", { exact: true }).fill("Daily")
    await away.click()
    await asked.getByRole("button", { name: "Leave page" }).click()
    await page.getByRole("heading", { name: "Queues" }).waitFor()
    expect(problems).toEqual([])
  })

  it("names the problem in the unit of the input", async () => {
    const { page, person } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/monitors/ssl/new`)
    await page.getByLabel("Host").fill("www.example.com")
    await page.getByLabel("Warn before expiry (days)").fill("30, abc")
    await page.getByRole("button", { name: "Create" }).click()
    await page.getByText("Enter whole numbers from 1 to 365, separated by commas.").waitFor()
    await expect.poll(() => focused(page)).toBe("Warn before expiry (days)")
    const every = page.getByLabel("Check every", { exact: true })
    await page.getByLabel("Check every: unit").selectOption("minutes")
    await every.fill("5")
    expect(await every.evaluate((input: HTMLInputElement) => input.validationMessage)).toBe(
      "Enter at least 60 minutes."
    )
  })

  it("focuses its first field and an added row", async () => {
    const { page, person } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/chains/new`)
    await expect.poll(() => focused(page)).toBe("Name")
    await page.getByRole("button", { name: "Add a step" }).click()
    await expect
      .poll(() => page.evaluate(() => (document.activeElement as HTMLInputElement).value))
      .toBe("step2")
    await page.getByRole("button", { name: "Add a header" }).first().click()
    await expect.poll(() => focused(page)).toBe("Name of header 1")
    await page.goto(`${w}/queues`)
    await page.getByRole("button", { name: "New queue" }).first().click()
    await expect.poll(() => focused(page)).toBe("Name")
  })

  it("keeps a text that is too long and names the limit", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await fillCron(page, `${panel.url()}/v1/echo`)
    const name = page.getByLabel("Name", { exact: true })
    await name.fill("x".repeat(230))
    await page.getByText("This has 230 characters. At most 200 are allowed.").waitFor()
    await page.getByRole("button", { name: "Create cron task" }).click()
    await expect.poll(() => focused(page)).toBe("Name")
    await name.fill("x".repeat(200))
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByRole("heading", { name: "x".repeat(200) }).waitFor()
  })

  it("is submitted by Ctrl+Enter, also from a text area", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await fillCron(page, `${panel.url()}/v1/echo`)
    await page.getByLabel("Body", { exact: true }).fill("one line")
    await page.keyboard.press("Control+Enter")
    await page.getByRole("heading", { name: "Nightly" }).waitFor()
    const [task] = await person.client.cron.list().toArray({ limit: 1 })
    expect(task?.body).toBe("one line")
  })

  it("in a dialog stays open on a press outside of it after input", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/queues`)
    const open = page.getByRole("button", { name: "New queue" }).first()
    const dialog = page.getByRole("dialog", { name: "New queue" })
    await open.click()
    await dialog.waitFor()
    await page.mouse.click(5, 5)
    await dialog.waitFor({ state: "hidden" })
    await open.click()
    await page.getByLabel("Name").fill("Billing")
    await page.mouse.click(5, 5)
    expect(await page.getByLabel("Name").inputValue()).toBe("Billing")
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "hidden" })
  })

  it("in a dialog can be reopened immediately after closing", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/settings`)
    const open = page.getByRole("button", { name: "Leave workspace" })
    const button = await open.elementHandle()
    await open.click()
    const dialog = page.getByRole("dialog", { name: /^Leave / })
    // Reopen the dialog before the browser has fired its `close` event.
    await dialog.evaluate(async (element, again) => {
      ;(element as HTMLDialogElement).requestClose()
      await Promise.resolve()
      ;(again as HTMLElement).click()
    }, button)
    await page.evaluate(() => new Promise(requestAnimationFrame))
    expect(await dialog.isVisible()).toBe(true)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "hidden" })
  })

  it("shows a problem with a schedule once, until it is corrected", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await fillCron(page, `${panel.url()}/v1/echo`)
    const schedule = page.getByRole("textbox", { name: "Schedule" })
    await schedule.fill("0 25 * * *")
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByText("1 field needs attention: Schedule").waitFor()
    expect(await page.getByRole("alert").count()).toBe(1)
    await schedule.fill("0 3 * * *")
    await page.getByText("Every day at 03:00").waitFor()
    expect(await page.getByRole("alert").count()).toBe(0)
    expect(await page.getByText("needs attention").count()).toBe(0)
  })

  it("keeps the user's input when the page is reloaded or the session has ended", async () => {
    const { context, page, person, problems } = await panel.openAs()
    page.on("dialog", (dialog) => void dialog.accept())
    const address = `${panel.url()}/w/${person.workspaceId}/cron/new`
    await page.goto(address)
    await fillCron(page, `${panel.url()}/v1/echo`)
    await page.reload()
    const name = page.getByLabel("Name", { exact: true })
    await page.getByText("Your unsaved input was restored.").waitFor()
    expect(await name.inputValue()).toBe("Nightly")
    await context.clearCookies()
    await page.reload()
    await page.getByLabel("Email").fill(person.email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await name.waitFor()
    expect(await name.inputValue()).toBe("Nightly")
    await page.getByRole("button", { name: "Discard it" }).click()
    expect(await name.inputValue()).toBe("")
    await page.reload()
    await name.waitFor()
    expect(await name.inputValue()).toBe("")

    await fillCron(page, `${panel.url()}/v1/echo`)
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByRole("link", { name: "Edit" }).click()
    await name.fill("Daily")
    await page.reload()
    await page.getByText("Your unsaved input was restored.").waitFor()
    expect(await name.inputValue()).toBe("Daily")
    const sent = page.waitForRequest((request) => request.method() === "PATCH")
    await page.getByRole("button", { name: "Save changes" }).click()
    expect((await sent).postDataJSON()).toEqual({ name: "Daily", version: 1 })
    await page.getByRole("heading", { name: "Daily" }).waitFor()
    await page.goto(address)
    await name.waitFor()
    expect(await name.inputValue()).toBe("")
    expect(problems).toEqual([])
  })

  it("does not show the user's input to another account", async () => {
    const owner = await createUser(panel.url(), "Owner", "Shared")
    const guest = await createUser(panel.url(), "Guest", "Own")
    const { token } = await owner.client.invitations.create({ email: guest.email, role: "editor" })
    await guest.client.invitations.accept({ token: token ?? "" })
    const { context, page } = await panel.openAs(owner)
    page.on("dialog", (dialog) => void dialog.accept())
    const address = `${panel.url()}/w/${owner.workspaceId}/cron/new`
    await page.goto(address)
    await fillCron(page, `${panel.url()}/v1/echo`)
    await context.clearCookies()
    await signIn(page, panel.url(), guest)
    await page.goto(address)
    const name = page.getByLabel("Name", { exact: true })
    await name.waitFor()
    expect(await name.inputValue()).toBe("")
  })

  it("has its button in view, its next runs beside it and the number of rare options", async () => {
    const { page, person } = await panel.openAs()
    await page.setViewportSize({ width: 1440, height: 700 })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await fillCron(page, `${panel.url()}/v1/echo`)
    const isInView = () =>
      page.getByRole("button", { name: "Create cron task" }).evaluate((button) => {
        const { bottom, top } = button.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
    await page.evaluate(() => scrollTo(0, 0))
    expect(await isInView()).toBe(true)
    const preview = page.getByRole("complementary", { name: "Preview" })
    await preview.getByText("Every day at 03:00").waitFor()
    await page.getByText("Advanced").click()
    await page.getByLabel("Success status codes").fill("204")
    await page.getByText("Advanced").click()
    await page.getByText("1 set").waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByText("Every day at 03:00").waitFor()
    expect(await preview.count()).toBe(0)
    await page.evaluate(() => scrollTo(0, 0))
    expect(await isInView()).toBe(true)

    const asked: Array<string> = []
    page.on("request", (request) => {
      const url = request.url()
      if (/\/(?:preview|recipients)\b/.test(url)) asked.push(url)
    })
    await page.getByRole("textbox", { name: "Schedule" }).fill("0 4 * * *")
    await page.getByText("Every day at 04:00").waitFor()
    expect(asked).toEqual([])
    await page.getByRole("heading", { name: "Preview" }).click()
    await preview.getByText("Every day at 04:00").waitFor()
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    await preview.getByRole("button", { name: "Make the call now" }).waitFor()
    await preview.getByRole("heading", { name: "Who would be notified" }).scrollIntoViewIfNeeded()
    expect(await isInView()).toBe(true)
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Nightly")
  })

  it("shows the answer of a test call", async () => {
    const { page, person } = await panel.openAs()
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await page.getByText("Enter a URL first.").waitFor()
    await fillCron(page, `${panel.url()}/v1/echo`)
    await page.getByLabel("Body", { exact: true }).fill('{"day":"today"}')
    await page.getByRole("button", { name: "Make the call now" }).click()
    const answer = page.getByRole("status", { name: "Response" })
    await answer.getByText("Succeeded").waitFor()
    await answer.getByText(String.raw`"body": "{\"day\":\"today\"}"`).waitFor()
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/nowhere`)
    await page.getByRole("button", { name: "Make the call now" }).click()
    await answer.getByText("404").first().waitFor()
  })
})
