import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { createUser } from "./support/users.ts"

describe.skipIf(skipReason !== undefined)("the latest changes", () => {
  const panel = usePanel()

  it("are on the overview, with their authors and with links to the records", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const overview = `${panel.url()}/w/${workspaceId}`
    const url = `${panel.url()}/v1/echo`
    const schedule = "0 3 * * *"
    const { id } = await client.cron.create({ name: "Import stock levels", schedule, url })
    await client.heartbeatMonitors.create({ name: "Backup", period_seconds: 3_600 })
    const allowed_hosts = ["api.example.com"]
    await client.secrets.upsert("WAREHOUSE_TOKEN", { value: "first", allowed_hosts })
    await client.secrets.upsert("WAREHOUSE_TOKEN", { value: "second", allowed_hosts })
    await client.cron.update(id, { timeout_seconds: 5 })
    const old = await client.cron.create({ name: "Old report", schedule, url })
    await client.cron.delete(old.id)
    await client.cron.pause(id)
    // These are no changes of a definition or a secret.
    await client.apiKeys.create({ name: "Deploys", scopes: ["tasks:read"] })
    await client.delayed.create({ url, delay_seconds: 3_600 })

    await page.goto(overview)
    const list = page.getByRole("table", { name: "Latest changes" })
    await list.getByRole("row").nth(5).waitFor()
    const rows = await list.getByRole("row").allInnerTexts()
    expect(rows.slice(1).map((row) => row.split("\n")[0])).toEqual([
      "Ada Lovelace paused the cron task Import stock levels",
      "Ada Lovelace deleted the cron task Old report",
      "Ada Lovelace created the cron task Old report",
      "Ada Lovelace changed timeout seconds of the cron task Import stock levels",
      "Ada Lovelace set a new value for the secret WAREHOUSE_TOKEN"
    ])
    await list.getByRole("link", { name: "WAREHOUSE_TOKEN" }).click()
    await page.getByRole("heading", { name: "Secrets" }).waitFor()
    await page.goBack()
    await list.getByRole("link", { name: "Import stock levels" }).first().click()
    await page
      .getByRole("heading", { name: /Import stock levels.*Paused.*by Ada Lovelace/s })
      .waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "Show the audit log" }).click()
    await page.getByRole("heading", { name: "Audit log" }).waitFor()
    expect(problems).toEqual([])
  })

  it("are hidden from members who may not read the audit log", async () => {
    const owner = await createUser(panel.url())
    const editor = await createUser(panel.url(), "Grace Hopper", "Hers")
    const { token } = await owner.client.invitations.create({ email: editor.email, role: "editor" })
    await editor.client.invitations.accept({ token: token ?? "" })
    const { page, problems } = await panel.openAs(editor)
    await page.goto(`${panel.url()}/w/${owner.workspaceId}`)
    await page.getByRole("group", { name: "Current problems" }).waitFor()
    expect(await page.getByText("Latest changes").count()).toBe(0)
    // A refused request would be a problem.
    expect(problems).toEqual([])
  })
})
