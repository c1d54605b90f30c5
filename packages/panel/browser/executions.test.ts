import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { openWithLiveEvents } from "./support/openWithLiveEvents.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import type { PanelUser } from "./support/users.ts"

const makeTask = ({ client }: PanelUser, name: string, url: string, tags: Array<string> = []) =>
  client.cron.create({ name, url, tags, schedule: "0 3 1 1 *", retry_count: 0 })

const rowsOf = (page: Page) => page.getByRole("table", { name: "Executions" }).getByRole("row")

describe.skipIf(skipReason !== undefined)("the list of executions", () => {
  const panel = usePanel()

  it("is filtered by several statuses, tag, task, period and id", async () => {
    const { page, person, problems } = await panel.openAs()
    const good = await makeTask(person, "Good", `${panel.url()}/v1/echo`, ["billing"])
    const bad = await makeTask(person, "Bad", `${panel.url()}/nowhere`)
    const { id } = await person.client.cron.runAndWait(good.id)
    await person.client.cron.runAndWait(bad.id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
    await page.getByText("2 executions", { exact: true }).waitFor()
    const status = page.getByRole("group", { name: "Status" })
    await status.getByRole("button", { name: "Failed" }).click()
    await page.getByText("1 execution", { exact: true }).waitFor()
    await status.getByRole("button", { name: "Succeeded" }).click()
    await page.getByText("2 executions", { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get("status")).toBe("succeeded,failed")
    await page.getByLabel("Tag").fill("billing")
    await page.keyboard.press("Enter")
    await page.getByText("1 execution", { exact: true }).waitFor()
    await rowsOf(page).getByRole("link", { name: "Good" }).waitFor()

    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
    await page.getByLabel("Task or execution id").pressSequentially("Ba")
    await page.locator("datalist option[value=Bad]").waitFor({ state: "attached" })
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Clear the task filter" }).waitFor()
    await page.getByText("1 execution", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Clear the task filter" }).click()
    await page.getByLabel("Task or execution id").fill(id)
    await page.getByRole("heading", { name: "Good" }).waitFor()
    expect(problems).toEqual([])
  })

  it("has a chart above it whose brush and keys set the period", async () => {
    const { page, person, problems } = await panel.openAs()
    const task = await makeTask(person, "Good", `${panel.url()}/v1/echo`)
    await person.client.cron.runAndWait(task.id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
    const chart = page.getByRole("listbox", { name: "Executions over time" })
    const bars = chart.getByRole("option")
    await bars.first().waitFor()
    expect(await bars.count()).toBe(48)
    await page.getByRole("option", { name: /: 1 succeeded, 0 failed/ }).waitFor()
    const { height, width, x, y } = (await chart.boundingBox())!
    await page.mouse.move(x + width * 0.25, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await page.getByText("No executions match the filters").waitFor()
    const search = () => new URL(page.url()).searchParams
    const hours = Date.parse(search().get("to")!) - Date.parse(search().get("from")!)
    expect(hours / 3_600_000).toBeGreaterThan(10)
    expect(await chart.getByRole("option", { selected: true }).count()).toBe(hours / 3_600_000)
    await bars.last().focus()
    await page.keyboard.press("Shift+ArrowLeft")
    await page.keyboard.press("Enter")
    await rowsOf(page).getByRole("link", { name: "Good" }).waitFor()
    expect(search().get("to")).toBe(null)
    await page.getByLabel("Period").selectOption("")
    await expect.poll(() => search().get("from")).toBe(null)
    expect(problems).toEqual([])
  })

  it("keeps views and columns in the browser", async () => {
    const { page, person, problems } = await panel.openAs()
    const task = await makeTask(person, "Bad", `${panel.url()}/nowhere`)
    await person.client.cron.runAndWait(task.id)
    await page.goto(
      `${panel.url()}/w/${person.workspaceId}/executions?status=failed&trigger=manual`
    )
    await page.getByRole("button", { name: "Saved views" }).click()
    await page.getByRole("menuitem", { name: "Save or remove views…" }).click()
    await page.getByLabel("Name").fill("By hand")
    await page.getByRole("button", { name: "Save view" }).click()
    await page.getByRole("button", { name: "Columns" }).click()
    await page.getByRole("menuitemcheckbox", { name: "Attempts" }).click()
    await page.getByRole("columnheader", { name: "Attempts" }).waitFor()
    await page.getByRole("button", { name: "Columns" }).click()
    await page.getByRole("menuitemcheckbox", { name: "Late by" }).click()
    await page.getByRole("columnheader", { name: "Late by" }).waitFor({ state: "detached" })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions?status=running`)
    await page.getByText("No executions match the filters").waitFor()
    await page.getByRole("button", { name: "Saved views" }).click()
    await page.getByRole("menuitem", { name: "By hand" }).click()
    await page.getByRole("columnheader", { name: "Attempts" }).waitFor()
    expect(page.url()).toContain("?status=failed&trigger=manual")
    await page.getByRole("button", { name: "Saved views" }).click()
    await page.getByRole("menuitem", { name: "Save or remove views…" }).click()
    await page.getByRole("button", { name: "Remove By hand" }).click()
    await page.getByRole("button", { name: "Remove By hand" }).waitFor({ state: "detached" })
    expect(problems).toEqual([])
  })

  it("runs and cancels all that match, and names those that failed", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const queue = await client.queues.create({ name: "Slow", max_concurrency: 1 })
    await client.queues.pause(queue.id)
    const url = `${panel.url()}/v1/echo`
    await client.delayed.createMany({
      items: Array.from({ length: 60 }, (_, index) => ({
        name: `Wait ${index}`,
        url,
        delay_seconds: 0,
        queue_id: queue.id
      }))
    })
    await page.goto(`${panel.url()}/w/${workspaceId}/executions?status=queued`)
    await page.getByText("60 executions", { exact: true }).waitFor()
    const bar = page.getByRole("toolbar", { name: "Selected" })
    await page.getByLabel("Select all loaded executions").check()
    await bar.getByRole("button", { name: "Select all 60 matching executions" }).click()
    await bar.getByText("60 selected").waitFor()
    expect(await bar.getByRole("button", { name: "Run again" }).isDisabled()).toBe(true)
    // Another user cancels one execution, and the request to cancel a different one is rejected.
    const refused = (await client.executions.list({ limit: 1 })).data[0]!.id
    await page.route(`**/executions/${refused}/cancel`, (route) =>
      route.fulfill({
        status: 409,
        json: { detail: { error: "conflict", message: "The execution has already finished." } }
      })
    )
    await bar.getByRole("button", { name: "Cancel" }).click()
    const asked = page.getByRole("dialog", { name: "Cancel 60 executions?" })
    await asked.getByRole("button", { name: "Cancel 60 executions" }).click()
    const failed = page.getByRole("dialog", { name: "1 of 60 executions failed" })
    await failed.getByText("The execution has already finished.").waitFor()
    await page.keyboard.press("Escape")
    const { total } = await client.executions.list({ status: "cancelled", total: true, limit: 1 })
    expect(total).toBe(59)
    await page.unrouteAll()

    await client.queues.resume(queue.id)
    await page.goto(`${panel.url()}/w/${workspaceId}/executions?status=cancelled`)
    await page.getByText("59 executions", { exact: true }).waitFor()
    await page
      .getByLabel(/^Select cancelled execution/)
      .first()
      .check()
    await bar.getByRole("button", { name: "Run again" }).click()
    await page.getByText("1 execution was started again").waitFor()
    expect(problems).toEqual([])
  })
})

describe.skipIf(skipReason !== undefined)("the page of an execution", () => {
  const panel = usePanel()

  it("shows the phases, the last good one, and the ones before and after it", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const task = await makeTask(person, "Report", `${panel.url()}/v1/echo`)
    await client.cron.runAndWait(task.id)
    await client.cron.update(task.id, { url: `${panel.url()}/nowhere` })
    const failed = await client.cron.runAndWait(task.id)
    await client.cron.update(task.id, { url: `${panel.url()}/v1/echo` })
    await client.cron.runAndWait(task.id)

    await page.goto(`${panel.url()}/w/${workspaceId}/executions/${failed.id}`)
    await page.getByText("Waiting for response", { exact: true }).waitFor()
    await page.getByText(/^Sent from node /).waitFor()
    const compared = page.getByRole("group", { name: "Compared with the last success" })
    await compared.getByText("Status code", { exact: true }).waitFor()
    await compared.getByText("404", { exact: true }).waitFor()
    await compared.getByText("200", { exact: true }).waitFor()
    await compared.getByText(/No endpoint at this URL/).waitFor()
    await page.getByText("Responded with 404 Not Found", { exact: true }).waitFor()
    await page.getByText(`POST ${panel.url()}/nowhere`, { exact: true }).waitFor()
    await page.getByRole("link", { name: /^Last success: / }).waitFor()
    const facts = page.getByRole("group", { name: "Execution", exact: true })
    await facts
      .getByText(/:\d\d\.\d{3}$/)
      .first()
      .waitFor()
    const notice = page.getByRole("status").filter({ hasText: "ewer execution" })
    await notice.getByText("Newer executions have succeeded.").waitFor()
    await page.getByRole("link", { name: /^Next run, succeeded/ }).click()
    await page.getByRole("link", { name: /^Previous run, failed/ }).waitFor()
    expect(await page.getByRole("link", { name: /^Next/ }).count()).toBe(0)
    await page.getByRole("link", { name: /^Previous run, failed/ }).click()
    await page.waitForURL(`**/executions/${failed.id}`)
    await page.getByRole("link", { name: /^Previous run, succeeded/ }).click()
    await page.getByRole("link", { name: /^Next run, failed/ }).waitFor()
    expect(await page.getByRole("link", { name: /^Previous/ }).count()).toBe(0)

    await openWithLiveEvents(page, panel.url(), () =>
      page.goto(`${panel.url()}/w/${workspaceId}/executions/${failed.id}`)
    )
    await notice.getByText("Newer executions have succeeded.").waitFor()
    await client.cron.update(task.id, { url: `${panel.url()}/nowhere` })
    const { id } = await client.cron.runAndWait(task.id)
    await notice.getByText(/^A newer execution failed at \d\d:\d\d\./).waitFor()
    await page.getByRole("link", { name: /^Incident open for / }).waitFor()
    await notice.getByRole("link", { name: "Show the latest" }).click()
    await page.waitForURL(`**/executions/${id}`)
    expect(problems).toEqual([])
  })

  it("keeps the views that another tab has saved", async () => {
    const { context, page, person } = await panel.openAs()
    const other = await context.newPage()
    const open = async (tab: Page) => {
      await tab.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
      await tab.getByText("No executions yet").waitFor()
    }
    const save = async (tab: Page, name: string) => {
      await tab.getByRole("button", { name: "Saved views" }).click()
      await tab.getByRole("menuitem", { name: "Save or remove views" }).click()
      await tab.getByLabel("Name").fill(name)
      await tab.getByRole("button", { name: "Save view" }).click()
    }
    await open(other)
    await open(page)
    await save(page, "Mine")
    await save(other, "Yours")
    await page.getByRole("button", { name: "Saved views" }).click()
    await page.getByRole("menuitem", { name: "Yours" }).waitFor()
    await page.getByRole("menuitem", { name: "Mine" }).waitFor()
  })

  it("continues to run all again where a request has failed", async () => {
    const { page, person } = await panel.openAs()
    const answers = [
      { json: { count: 1_000, cursor: "next" } },
      { status: 400, json: { detail: { error: "invalid", message: "Rejected." } } },
      { json: { count: 5, cursor: null } }
    ]
    const cursors: Array<unknown> = []
    await page.route("**/executions/rerun", (route) => {
      cursors.push(route.request().postDataJSON().cursor)
      return route.fulfill(answers[cursors.length - 1] ?? { status: 500 })
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions?status=failed`)
    await page.getByRole("button", { name: "Run all again" }).click()
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Run again" })
    await confirm.click()
    await page.getByText("Rejected.").waitFor()
    await confirm.click()
    await page.getByText("1,005 executions were started again").waitFor()
    expect(cursors).toEqual([undefined, "next", "next"])
  })
})
