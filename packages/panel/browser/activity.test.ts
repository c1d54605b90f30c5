import { describe, expect, it } from "vitest"
import { missing, usePanel } from "./support/panel.ts"

describe.skipIf(missing !== undefined)("what tasks do", () => {
  const panel = usePanel()

  it("is seen before they run, where they collide, and how they went", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client } = person
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/forecast`)
    await page.getByText("Nothing runs in the next 24 hours").waitFor()

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
    const failing = page.getByRole("group", { name: "Failing now" })
    await failing.getByRole("link", { name: /Broken/ }).waitFor()
    expect(await failing.getByRole("link").count()).toBe(1)
    await page.getByRole("link", { name: "All upcoming runs" }).click()
    await page.getByRole("heading", { name: "Coming up" }).waitFor()
    expect(problems).toEqual([])
  })
})
