import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("dependencies", () => {
  const panel = usePanel()

  it("are chosen in the forms, and shown with the incident that suppresses another", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const site = await client.heartbeatMonitors.create({ name: "Site", period_seconds: 3_600 })
    const shop = await client.heartbeatMonitors.create({ name: "Shop", period_seconds: 3_600 })
    const task = await client.cron.create({
      name: "Report",
      schedule: "0 0 1 1 *",
      url: "https://api.example.com/report"
    })
    const choose = async (name: string) => {
      await page.getByRole("searchbox", { name: "Depends on: search" }).fill(name)
      await page.getByRole("group", { name: "Depends on" }).getByRole("button", { name }).click()
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByRole("link", { name, exact: true }).waitFor()
    }
    await page.goto(`${panel.url()}/w/${workspaceId}/monitors/heartbeat/${shop.id}/edit`)
    await choose("Site")
    await page.goto(`${panel.url()}/w/${workspaceId}/cron/${task.id}/edit`)
    await choose("Shop")
    expect((await client.heartbeatMonitors.get(shop.id)).depends_on).toMatchObject([
      { id: site.id }
    ])
    expect((await client.cron.get(task.id)).depends_on).toMatchObject([{ id: shop.id }])

    await page.goto(`${panel.url()}/w/${workspaceId}/monitors/heartbeat/${site.id}/edit`)
    await page.getByRole("searchbox", { name: "Depends on: search" }).fill("Report")
    await page
      .getByRole("group", { name: "Depends on" })
      .getByRole("button", { name: "Report" })
      .click()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("alert").filter({ hasText: "creates a cycle" }).first().waitFor()

    await fetch(`${site.ping_url}/fail`)
    await fetch(`${shop.ping_url}/fail`)
    await page.goto(`${panel.url()}/w/${workspaceId}/incidents`)
    const row = page.getByRole("row", { name: /Suppressed.*Shop/i })
    await row.waitFor()
    await row.getByRole("link", { name: "Shop" }).click()
    await page.getByText("Suppressed by").waitFor()
    await page.getByRole("link", { name: "Site", exact: true }).click()
    await page.getByRole("heading", { name: "Site" }).waitFor()
    expect(problems).toEqual([])
  })
})
