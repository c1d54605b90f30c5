import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { runShell } from "./support/shell.ts"

describe.skipIf(skipReason !== undefined)("maintenance", () => {
  const panel = usePanel()

  it("is planned in the form, in progress at its time, and keeps incidents from opening", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const { id, ping_url } = await client.heartbeatMonitors.create({
      name: "Backup",
      period_seconds: 3_600
    })
    await page.goto(`${panel.url()}/w/${workspaceId}/maintenance`)
    const scopes = ["monitors:write", "tasks:write"] as const
    const { key } = await client.apiKeys.create({ name: "CI", scopes: [...scopes] })
    const curl = page.getByRole("region", { name: "Create a maintenance window: curl" })
    const example = (await curl.textContent()) ?? ""
    expect(JSON.parse(await runShell(example, { API_KEY: key }))).toMatchObject({ version: 1 })

    await page.getByRole("button", { name: "New maintenance window" }).first().click()
    await page.getByRole("textbox", { name: "Name" }).fill("Move to the new host")
    const backdrop = await page
      .getByRole("dialog")
      .evaluate((dialog) => getComputedStyle(dialog, "::backdrop").backgroundColor)
    // The default of the browser is too light to tell a dialog from a dark page.
    expect(backdrop).not.toBe("rgba(0, 0, 0, 0.1)")
    await page.getByLabel("All monitors and tasks of the workspace").check()
    await page.getByRole("button", { name: "Create maintenance window" }).click()
    await page.getByRole("row", { name: /Planned.*Move to the new host.*All monitors/ }).waitFor()

    await page.getByRole("button", { name: "Actions for Move to the new host" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Starts").fill("2026-01-01T00:00:00")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("row", { name: /In progress.*Move to the new host/ }).waitFor()

    await fetch(`${ping_url}/fail`)
    expect(await client.heartbeatMonitors.get(id)).toMatchObject({
      status: "down",
      open_incident_id: null
    })
    await page.getByRole("button", { name: "Actions for Move to the new host" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByRole("link", { name: "Incidents 1 open" }).waitFor()
    expect(problems).toEqual([])
  })
})
