import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { holdRequests } from "./support/hold.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import { setVisibility } from "./support/setVisibility.ts"

/** Rejects the matching requests. */
const reject = (page: Page, url: string | RegExp, method = "GET") =>
  page.route(url, (route) =>
    route.request().method() === method
      ? route.fulfill({ status: 400, json: { detail: { error: "invalid", message: "Rejected." } } })
      : route.fallback()
  )

/** Returns to the tab after a while, so that it refetches. The page's clock must be installed. */
const comeBack = async (page: Page) => {
  await setVisibility(page, "hidden")
  await page.clock.fastForward("00:10")
  await setVisibility(page, "visible")
}

describe.skipIf(skipReason !== undefined)("a response that arrives late", () => {
  const panel = usePanel()

  const openQueues = (page: Page) =>
    page.getByRole("navigation").getByRole("link", { name: "Queues" }).click()

  it("leaves users on the page to which they have gone", async () => {
    const { page, person, problems } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/cron/new`)
    await page.getByLabel("Name", { exact: true }).fill("Nightly")
    await page.getByLabel("URL", { exact: true }).fill(url)
    await page.getByRole("textbox", { name: "Schedule" }).fill("0 3 * * *")
    const creation = await holdRequests(page, "**/cron", "POST")
    await page.getByRole("button", { name: "Create cron task" }).click()
    await creation.isHeld
    await openQueues(page)
    await page
      .getByRole("dialog", { name: "Leave without saving?" })
      .getByRole("button", { name: "Leave page" })
      .click()
    await page.getByText("No queues yet").waitFor()
    creation.release()
    await page.getByText("Nightly was created").waitFor()
    expect(page.url()).toBe(`${w}/queues`)

    const chain = await person.client.chains.create({ name: "Export", steps: [{ name: "a", url }] })
    await page.goto(`${w}/chains/${chain.id}`)
    const run = await holdRequests(page, "**/run", "POST")
    await page.getByRole("button", { name: "Run now" }).click()
    await run.isHeld
    await openQueues(page)
    await page.getByText("No queues yet").waitFor()
    run.release()
    await page.getByText("Export was started").waitFor()
    expect(page.url()).toBe(`${w}/queues`)
    expect(problems).toEqual([])
  })

  it("is shown even after its form or dialog was closed", async () => {
    const { page, person } = await panel.openAs()
    const messages = page.getByRole("region", { name: "Messages" })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/queues`)
    await reject(page, "**/queues", "POST")
    const creation = await holdRequests(page, "**/queues", "POST")
    await page.getByRole("button", { name: "New queue" }).first().click()
    await page.getByLabel("Name").fill("Billing")
    await page.getByRole("button", { name: "Create queue" }).click()
    await creation.isHeld
    await page.keyboard.press("Escape")
    creation.release()
    await messages.getByText("Rejected.").waitFor()

    await page.goto(`${panel.url()}/w/${person.workspaceId}/settings`)
    await reject(page, "**/workspaces/*", "DELETE")
    const deletion = await holdRequests(page, "**/workspaces/*", "DELETE")
    const asked = page.getByRole("dialog", { name: "Delete Acme production?" })
    const word = asked.getByRole("textbox")
    const confirm = asked.getByRole("button", { name: "Delete permanently" })
    await page.getByRole("button", { name: "Delete workspace" }).click()
    await word.fill("Acme production")
    await confirm.click()
    await deletion.isHeld
    await page.keyboard.press("Escape")
    deletion.release()
    await messages.getByText("Rejected.").waitFor()
    // The dialog asks anew, without the earlier answer and its problem.
    await page.getByRole("button", { name: "Delete workspace" }).click()
    expect(await word.inputValue()).toBe("")
    expect(await confirm.isDisabled()).toBe(true)
    expect(await asked.getByRole("alert").count()).toBe(0)
  })

  it("of a copied task is awaited, and a failure is shown", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    const task = await person.client.cron.create({ name: "Nightly", schedule: "0 3 * * *", url })
    await reject(page, `**/cron/${task.id}`)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new?from=${task.id}`)
    await page.getByText("Rejected.").waitFor()
    expect(await page.getByRole("button", { name: "Create cron task" }).count()).toBe(0)
  })

  it("does not hide a form when its data cannot be refetched", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    await person.client.notifications.createChannel({
      kind: "webhook",
      name: "Operations",
      config: { url }
    })
    await page.clock.install()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications/rules`)
    await page.getByRole("button", { name: "Add a rule" }).click()
    const tags = page.getByRole("textbox", { name: "Only for these tags" })
    await tags.fill("billing")
    await reject(page, "**/notifications/settings")
    await comeBack(page)
    await page.getByText("Rejected.").first().waitFor()
    expect(await tags.inputValue()).toBe("billing")

    await page.goto(`${panel.url()}/account/settings`)
    await page.getByRole("button", { name: "Set up second factor" }).click()
    const password = page.getByLabel("Your password")
    await password.fill("typed")
    await reject(page, "**/totp")
    const rejected = page.waitForResponse("**/totp")
    await comeBack(page)
    await (await rejected).finished()
    expect(await password.inputValue()).toBe("typed")
  })

  it("with a filtered list does not bring back a filter that was removed", async () => {
    const { page, person } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    const open = (name: string) =>
      page.getByRole("navigation").getByRole("link", { name, exact: true }).click()
    await person.client.heartbeatMonitors.create({ name: "Backup", period_seconds: 3_600 })
    await page.goto(`${w}/monitors`)
    const name = page.getByRole("searchbox", { name: "Filter by name" })
    await name.fill("shop")
    await page.waitForURL("**/monitors?name=shop")
    await open("Monitors")
    await page.getByRole("link", { name: "Backup" }).waitFor()
    await expect.poll(() => name.inputValue()).toBe("")
    expect(page.url()).toBe(`${w}/monitors`)

    await page.goto(`${w}/executions?status_code=500&tag=billing`)
    await page.getByText("No executions match the filters").waitFor()
    await open("Executions")
    await page.getByText("No executions yet").waitFor()
    expect(await page.getByRole("textbox", { name: "Status code" }).inputValue()).toBe("")
    expect(await page.getByRole("textbox", { name: "Tag" }).inputValue()).toBe("")
  })

  it("of an earlier search leads to no record that does not match", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    await person.client.queues.create({ name: "Billing", max_concurrency: 1 })
    await person.client.cron.create({ name: "Nightly", schedule: "0 3 * * *", url })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
    await page.getByText("No executions yet").waitFor()
    const input = page.getByRole("combobox", { name: "Task or execution id" })
    await input.fill("Night")
    await page.locator("datalist option[value=Nightly]").waitFor({ state: "attached" })
    await input.pressSequentially("x")
    await page.keyboard.press("Enter")
    expect(page.url()).not.toContain("task_id")

    await page.keyboard.press("Control+k")
    const palette = page.getByRole("dialog", { name: "Search" })
    await palette.getByRole("combobox").fill("bill")
    await palette.getByRole("option", { name: "Billing Queue" }).waitFor()
    const search = await holdRequests(page, "**/search?*")
    await palette.getByRole("combobox").fill("bill of lading")
    await search.isHeld
    await page.keyboard.press("Enter")
    await reject(page, "**/search?*")
    search.release()
    await palette.getByText("No results for").waitFor()
    await palette.getByRole("combobox").fill("bill again")
    await palette.getByText("Rejected.").waitFor()
    expect(await palette.getByText("No results for").count()).toBe(0)
  })

  it("to the test of a channel is not shown on the page of another channel", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    for (const name of ["Mine", "Yours"]) {
      await person.client.notifications.createChannel({ kind: "webhook", name, config: { url } })
    }
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications`)
    await page.getByRole("link", { name: "Mine" }).click()
    await page.getByRole("heading", { name: "Mine" }).waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "Yours" }).click()
    await page.getByRole("button", { name: "Send test message" }).click()
    const result = page.getByRole("status").filter({ hasText: "after" })
    await result.waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search" }).fill("Mine")
    await page.getByRole("option", { name: "Mine Channel" }).click()
    await page.getByRole("heading", { name: "Mine" }).waitFor()
    expect(await result.count()).toBe(0)
  })
})
