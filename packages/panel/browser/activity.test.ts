import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("the runs of tasks", () => {
  const panel = usePanel()

  it("are shown in the forecast, with collisions, and with their results", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client } = person
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/executions`)
    await page.getByText("No executions yet").waitFor()
    await page.getByRole("main").getByRole("link", { name: "New cron task" }).waitFor()
    await page.goto(`${w}/forecast`)
    await page.getByText("No runs in the next 24 hours").waitFor()

    const url = `${panel.url()}/v1/echo`
    const daily = { schedule: "0 3 * * *", url }
    const { id } = await client.cron.create({ ...daily, name: "Nightly report" })
    await client.cron.create({ ...daily, name: "Nightly backup" })
    const broken = await client.cron.create({
      ...daily,
      name: "Broken",
      url: `${panel.url()}/nowhere`,
      retry_count: 0
    })
    await client.cron.runAndWait(id)
    await client.cron.runAndWait(id)
    await client.cron.runAndWait(broken.id)

    await page.reload()
    const minutes = page.getByRole("group", { name: "Busiest minutes" })
    await minutes.getByText("3 runs").waitFor()
    await page.getByRole("listbox", { name: /^3 runs from/ }).waitFor()
    // Every colour and figure is explained beside it.
    for (const explanation of [
      "Runs that start in 15 minutes",
      "Those in one of the busiest minutes, listed below",
      "that start in the next 24 hours",
      /^runs that start on /,
      "Runs expected in the busiest second."
    ]) {
      await page.getByText(explanation).waitFor()
    }
    await page.getByText("7 days").click()
    await page.getByRole("listbox", { name: /^21 runs from/ }).waitFor()
    expect(page.url()).toContain("span=week")
    await minutes.getByRole("link", { name: "Nightly report" }).first().click()
    await page.getByRole("heading", { name: "Nightly report" }).waitFor()

    await page.goto(`${w}/cron`)
    const row = page.getByRole("row", { name: /Nightly report/ })
    await row.getByRole("img", { name: /The latest 2 runs, none failed/ }).waitFor()
    await page.getByRole("img", { name: /The latest run, 1 failed/ }).waitFor()

    const queue = await client.queues.create({ name: "Billing", max_concurrency: 1 })
    await client.queues.pause(queue.id)
    await client.delayed.create({ url, delay_seconds: 0, queue_id: queue.id })
    await page.goto(w)
    const list = page.getByRole("table", { name: "Current problems" })
    await list.getByRole("row", { name: /Failing.*Broken.*Cron task/s }).waitFor()
    expect(await list.getByRole("link").allInnerTexts()).toEqual(["Broken", "Execution", "Task"])
    const state = page.getByRole("list", { name: "State of the workspace" })
    await state.getByText(/^Runs wait in 1 queue, the longest for \d+ s$/).waitFor()
    await state.getByRole("link", { name: "1 open incident (1 task)" }).click()
    await page.getByRole("row", { name: /Open.*Broken/ }).waitFor()
    const { data: open } = await client.incidents.list({ open: "true" })
    for (const incident of open) await client.incidents.close(incident.id)
    await page.goto(w)
    await state.getByRole("link", { name: "1 task is failing" }).click()
    await page.getByRole("row", { name: /Failed.*Broken/ }).waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "Show the forecast" }).click()
    await page.getByRole("heading", { name: "Forecast" }).waitFor()
    expect(problems).toEqual([])
  })

  it("that failed are listed once for each task", async () => {
    const { page, person, problems } = await panel.openAs()
    const task = {
      schedule: "0 3 * * *",
      url: `${panel.url()}/nowhere`,
      retry_count: 0
    }
    const often = await person.client.cron.create({ ...task, name: "Invoices" })
    const once = await person.client.cron.create({ ...task, name: "Reports" })
    for (const { id } of [often, often, once, often]) await person.client.cron.runAndWait(id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page
      .getByRole("table", { name: "Current problems" })
      .getByRole("row", { name: /Reports/ })
      .waitFor()
    await page.getByRole("heading", { name: "Next runs" }).waitFor()
    expect(await page.getByRole("heading", { name: "Latest failures" }).count()).toBe(0)
    for (const { id } of [often, once]) {
      await person.client.cron.update(id, { url: `${panel.url()}/v1/echo` })
      await person.client.cron.runAndWait(id)
    }
    await page.reload()
    const list = page.getByRole("table", { name: "Failures by task" })
    await list
      .getByRole("row", { name: /Invoices.*Responded with 404 Not Found.*3, first at/s })
      .waitFor()
    await list.getByRole("row", { name: /Reports.*Responded with 404/s }).waitFor()
    // One row has the heads of the columns.
    expect(await list.getByRole("row").count()).toBe(3)
    const failures = { task_id: often.id, status: ["failed"], limit: 1 } as const
    const { data } = await person.client.executions.list(failures)
    await list.getByRole("link", { name: "Invoices" }).click()
    await page.waitForURL(`**/executions/${data[0]?.id}`)
    expect(problems).toEqual([])
  })

  it("are counted as soon as they are listed", async () => {
    const { page, person, problems } = await panel.openAs()
    const { id } = await person.client.cron.create({
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${id}`)
    const figures = page.getByRole("group", { name: "Statistics" })
    await figures.getByText(/^Runs0/).waitFor()
    await page.getByRole("button", { name: "Run now" }).click()
    await page.getByRole("row", { name: /Succeeded/ }).waitFor()
    // Without live events, the statistics would be refetched only once a minute.
    await figures.getByText(/^Runs1/).waitFor({ timeout: 8_000 })
    expect(problems).toEqual([])
  })

  it("of a task are shown over time, and by day for a year", async () => {
    const { page, person, problems } = await panel.openAs()
    const { id } = await person.client.cron.create({
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`
    })
    await person.client.cron.runAndWait(id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${id}`)
    const success = page.getByRole("group", { name: "Statistics" })
    await success.getByText("100%").waitFor()
    const durations = success.getByRole("listbox", { name: /^Duration over time/ })
    await durations.waitFor()
    // The charts leave out the days before the task was created.
    const bars = success.getByRole("listbox", { name: "Executions over time" })
    expect(await durations.getByRole("option").count()).toBe(12)
    expect(await bars.getByRole("option").count()).toBe(12)
    expect(await success.getByText(/Created on \d+ \w+, \d\d:\d\d/).count()).toBe(2)
    await success.getByText("1y").click()
    await success.getByRole("img", { name: /^Runs failed on 0 of the last 36\d days$/ }).waitFor()
    await success.getByText("24h").click()
    await bars.getByRole("option").last().click()
    await page.waitForURL(new RegExp(`executions\\?.*task_id=${id}`))
    await page.getByRole("row", { name: /Succeeded/ }).waitFor()
    expect(problems).toEqual([])
  })

  it("are shown in bars of 15 minutes, and selecting a period filters the failures", async () => {
    const { page, person, problems } = await panel.openAs(undefined, {
      viewport: { width: 1440, height: 900 }
    })
    const { client } = person
    const { id } = await client.cron.create({
      name: "Broken",
      schedule: "0 3 * * *",
      url: `${panel.url()}/not-found`,
      retry_count: 0
    })
    await client.cron.runAndWait(id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    // The charts of a workspace with a short history are nearly empty.
    const chart = page.getByRole("listbox", { name: "Executions over time" })
    await page.getByText("Everything ran in the last hour.").waitFor()
    expect(await chart.count()).toBe(0)
    await page.getByRole("heading", { name: "Charts" }).click()
    const bars = chart.getByRole("option")
    await bars.first().waitFor()
    expect(await bars.count()).toBe(192)
    await expect.poll(() => bars.last().getAttribute("aria-label")).toMatch(/1 failed/)
    // A day has 96 bars.
    await bars.last().focus()
    for (const [key, index] of [
      ["PageUp", 95],
      ["PageDown", 191],
      ["Home", 0],
      ["PageDown", 96],
      ["End", 191]
    ] as const) {
      await page.keyboard.press(key)
      expect(await bars.nth(index).evaluate((bar) => bar === document.activeElement)).toBe(true)
    }
    expect(await chart.locator("xpath=./span").textContent()).toContain(
      "Page Up and Page Down move by a day."
    )
    const failures = page.getByRole("group", { name: "Failures in this period" })
    // The first 15 minutes have no failures, and the last 15 minutes have one.
    await bars.first().click()
    await failures.getByText("No failures").waitFor()
    await bars.last().click()
    await failures.getByRole("row", { name: /Broken/ }).waitFor()
    await page.getByRole("link", { name: "Show executions" }).click()
    await page.waitForURL(/executions\?from=/)
    await page.getByRole("row", { name: /Failed.*Broken/ }).waitFor()
    expect(problems).toEqual([])
  })
})
