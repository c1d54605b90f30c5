import { describe, expect, it } from "vitest"
import { missing, usePanel } from "./support/panel.ts"

describe.skipIf(missing !== undefined)("the runs of tasks", () => {
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
    await page.getByRole("img", { name: /^3 runs from/ }).waitFor()
    await page.getByText("7 days").click()
    await page.getByRole("img", { name: /^21 runs from/ }).waitFor()
    expect(page.url()).toContain("span=week")
    await minutes.getByRole("link", { name: "Nightly report" }).first().click()
    await page.getByRole("heading", { name: "Nightly report" }).waitFor()

    await page.goto(`${w}/cron`)
    const row = page.getByRole("row", { name: /Nightly report/ })
    await row.getByRole("img", { name: /The latest 2 runs, none failed/ }).waitFor()
    await page.getByRole("img", { name: /The latest run, 1 failed/ }).waitFor()

    await page.goto(w)
    const failing = page.getByRole("group", { name: "Failing tasks" })
    await failing.getByRole("link", { name: /Broken/ }).waitFor()
    expect(await failing.getByRole("link").count()).toBe(1)
    await page.getByRole("link", { name: "Show the forecast" }).click()
    await page.getByRole("heading", { name: "Forecast" }).waitFor()
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
    const figures = page.getByRole("group", { name: "Last 24 hours" })
    await figures.getByText(/^Runs0/).waitFor()
    await page.getByRole("button", { name: "Run now" }).click()
    await page.getByRole("row", { name: /Succeeded/ }).waitFor()
    // Without live events, statistics would be refetched only every 15 seconds.
    await figures.getByText(/^Runs1/).waitFor({ timeout: 8_000 })
    expect(problems).toEqual([])
  })

  it("are divided into past and future by one line", async () => {
    for (const width of [1440, 390]) {
      const { context, page, person } = await panel.openAs(undefined, {
        viewport: { width, height: 900 }
      })
      await person.client.cron.create({
        name: "Nightly report",
        schedule: "0 3 * * *",
        url: `${panel.url()}/v1/echo`
      })
      await page.goto(`${panel.url()}/w/${person.workspaceId}`)
      const line = page.locator("span.w-px.bg-live")
      const label = page.getByText("Now", { exact: true })
      await page
        .getByRole("link", { name: /\d upcoming/ })
        .first()
        .waitFor()
      const centre = async (of: typeof line) => {
        const { width: wide = 0, x = 0 } = (await of.boundingBox()) ?? {}
        return x + wide / 2
      }
      await expect
        .poll(async () => Math.abs((await centre(line)) - (await centre(label))))
        .toBeLessThan(1.5)
      await context.close()
    }
  })
})
