import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { setVisibility } from "./support/setVisibility.ts"

describe.skipIf(skipReason !== undefined)("a record that two users edit", () => {
  const panel = usePanel()

  const taskOf = async () => {
    const opened = await panel.openAs()
    const { page, person } = opened
    const task = await person.client.cron.create({
      name: "Nightly",
      schedule: "0 3 * * *",
      timezone: "UTC",
      url: `${panel.url()}/v1/echo`
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${task.id}/edit`)
    const name = page.getByLabel("Name", { exact: true })
    await name.waitFor()
    return { ...opened, name, read: () => person.client.cron.get(task.id), task }
  }

  it("keeps the change of another tab when a form that was opened before it is saved", async () => {
    const { name, page, person, read, task } = await taskOf()
    // Block live events, so that this tab does not learn about edits in the other tab.
    await page.route("**/events*", (route) => route.abort())
    await page.reload()
    await name.fill("Daily")
    await person.client.cron.update(task.id, { schedule: "0 4 * * *", retry_count: 1 })
    const sent = page.waitForRequest((request) => request.method() === "PATCH")
    await page.getByRole("button", { name: "Save changes" }).click()
    expect((await sent).postDataJSON()).toEqual({ name: "Daily", version: 2 })
    await page.getByRole("heading", { name: "Daily" }).waitFor()
    expect(await read()).toMatchObject({ name: "Daily", schedule: "0 4 * * *", retry_count: 1 })
  })

  it("shows other users' changes immediately and keeps the typed values", async () => {
    const { name, page, person, task } = await taskOf()
    await name.fill("Daily")
    await person.client.cron.update(task.id, { schedule: "0 4 * * *" })
    await page.getByText("Someone else changed Schedule. The form shows the new values.").waitFor()
    expect(await page.getByRole("textbox", { name: "Schedule" }).inputValue()).toBe("0 4 * * *")
    expect(await name.inputValue()).toBe("Daily")
  })

  it("asks which value to keep if both changed the same field", async () => {
    for (const [button, kept] of [
      ["Keep mine", "Mine"],
      ["Take theirs", "Theirs"]
    ] as const) {
      const { context, name, page, person, read, task } = await taskOf()
      await name.fill("Mine")
      await person.client.cron.update(task.id, { name: "Theirs" })
      const asked = page.getByRole("alert").filter({ hasText: "Which values do you want to keep?" })
      await asked.getByText("Theirs: Theirs").waitFor()
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByRole("button", { name: "Save changes" }).isEnabled()
      expect((await read()).name).toBe("Theirs")
      await asked.getByRole("button", { name: button }).click()
      await asked.waitFor({ state: "detached" })
      expect(await name.inputValue()).toBe(kept)
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByRole("heading", { name: kept, exact: true }).waitFor()
      expect((await read()).name).toBe(kept)
      await context.close()
    }
  })

  it("shows the duration that somebody else saved", async () => {
    const { page, person } = await panel.openAs()
    const monitor = await person.client.heartbeatMonitors.create({
      name: "Backup",
      period_seconds: 3_600,
      grace_seconds: 600
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/monitors/heartbeat/${monitor.id}/edit`)
    const grace = page.getByLabel("Grace period", { exact: true })
    expect(await grace.inputValue()).toBe("10")
    await person.client.heartbeatMonitors.update(monitor.id, { grace_seconds: 7_200 })
    await page.getByText("The form shows the new values.").waitFor()
    expect(await grace.inputValue()).toBe("2")
    expect(await page.getByLabel("Grace period: unit").inputValue()).toBe("3600")
  })

  it("is not overwritten with the values that a dialog was opened with", async () => {
    const { page, person } = await panel.openAs()
    const { client, workspaceId } = person
    const w = `${panel.url()}/w/${workspaceId}`
    const slug = `shop-${workspaceId.slice(-8)}`
    const window = {
      name: "Upgrade",
      starts_at: "2030-01-01T00:00:00Z",
      ends_at: "2030-01-02T00:00:00Z"
    }
    const { id } = await client.notifications.createChannel({
      kind: "webhook",
      name: "Operations",
      config: { url: `${panel.url()}/v1/echo` }
    })
    const steps = [{ after_seconds: 0, channel_ids: [id] }]
    await page.clock.install()
    for (const [path, name, save] of [
      [
        "status-pages",
        "Shop",
        (title: string) => client.statusPages.upsert(slug, { title, groups: [] })
      ],
      [
        "maintenance",
        "Upgrade",
        (renamed: string) =>
          client.maintenance.upsert("upgrade", { ...window, name: renamed, everything: true })
      ],
      [
        "notifications/escalations",
        "Night shift",
        (renamed: string) => client.escalations.upsert("night", { name: renamed, steps })
      ]
    ] as const) {
      await save(name)
      await page.goto(`${w}/${path}`)
      await page.getByRole("button", { name: `Actions for ${name}` }).click()
      await page.getByRole("menuitem", { name: "Edit" }).click()
      await save("Theirs")
      await setVisibility(page, "hidden")
      await page.clock.fastForward("00:10")
      await setVisibility(page, "visible")
      await page.getByText("Theirs").first().waitFor({ state: "attached" })
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByRole("dialog").getByRole("alert").waitFor()
      expect((await save("Theirs")).version).toBe(2)
    }
  })

  it("shows the new steps of a chain that somebody else changed", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    const chain = await person.client.chains.create({
      name: "Export",
      steps: [
        { name: "login", url },
        { name: "upload", url }
      ]
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/chains/${chain.id}/edit`)
    await page.getByLabel("Name", { exact: true }).first().fill("Nightly export")
    await person.client.chains.update(chain.id, { steps: [{ name: "all", url }] })
    await page.getByText("Someone else changed Steps.").waitFor()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("heading", { name: "Nightly export" }).waitFor()
    expect(await person.client.chains.get(chain.id)).toMatchObject({
      name: "Nightly export",
      steps: [{ name: "all" }]
    })
  })
})
