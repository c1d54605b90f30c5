import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { startReceiver } from "./support/startReceiver.ts"

describe.skipIf(skipReason !== undefined)("who is notified", () => {
  const panel = usePanel()

  it("is said by the forms and pages of tasks and monitors", async () => {
    const { url } = await startReceiver()
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const w = `${panel.url()}/w/${workspaceId}`
    const make = (name: string) =>
      client.notifications.createChannel({ name, kind: "webhook", config: { url } })
    const [pager, chat] = [await make("Pager"), await make("Chat")]
    await client.escalations.upsert("on-call", {
      name: "On call",
      steps: [{ after_seconds: 300, channel_ids: [pager.id] }]
    })
    const { version } = await client.notifications.getSettings()
    await client.notifications.replaceSettings({
      version,
      rules: [
        { events: ["execution.failed"], channel_ids: [chat.id], tags: ["billing"] },
        { events: ["incident.opened"], escalation_key: "on-call" }
      ]
    })

    await page.goto(`${w}/cron/new`)
    const would = page.getByRole("group", { name: "Who would be notified" })
    await would.getByText("No channel is notified").waitFor()
    await page.getByLabel("Tags").fill("nightly, billing")
    await would.getByRole("link", { name: "Chat" }).waitFor()
    await would.getByText("Not used yet").waitFor()

    await page.goto(`${w}/monitors/heartbeat/new`)
    await would.getByText("5 min after the start").waitFor()
    await would.getByRole("link", { name: "Pager" }).waitFor()
    await page.getByLabel("Schedule", { exact: true }).fill("0 3 * * *")
    const preview = page.getByRole("complementary", { name: "Preview" })
    await preview.getByText("Every day at 03:00").waitFor()
    await preview.getByText("goes down 5 min later").waitFor()

    const { id } = await client.cron.create({
      name: "Invoices",
      schedule: "0 5 * * *",
      url: `${panel.url()}/nowhere`,
      retry_count: 0,
      tags: ["billing"],
      on_failure: { url }
    })
    await client.notifications.updateChannel(chat.id, { paused: true })
    await page.goto(`${w}/cron/${id}`)
    const own = page.getByRole("group", { name: "Who is notified" })
    await own.getByText("Paused").waitFor()
    await own.getByText("none of the channels is active").waitFor()
    await own.getByText("Failure callback").waitFor()
    // A failure callback notifies somebody.
    expect(await page.getByText(/^Nobody is notified/).count()).toBe(0)
    await client.cron.update(id, { on_failure: null })
    await page.reload()
    const main = page.getByRole("main")
    await main
      .getByText("Nobody is notified about this task: none of its channels is active.")
      .waitFor()
    await main.getByRole("link", { name: "Show the channels" }).waitFor()
    await client.cron.update(id, { tags: [] })
    await client.cron.runAndWait(id)
    await expect
      .poll(async () => (await client.incidents.list({ subject_id: id })).data.length)
      .toBe(1)
    const [incident] = (await client.incidents.list({ subject_id: id })).data
    await page.goto(`${w}/incidents/${incident?.id}`)
    await main.getByText("Nobody is notified about this task.").waitFor()
    await main.getByRole("link", { name: "Change the rules" }).click()
    await page.waitForURL("**/notifications/rules")
    await client.cron.update(id, { tags: ["billing"] })
    const heartbeat = await client.heartbeatMonitors.create({ name: "Sync", period_seconds: 3_600 })
    await page.goto(`${w}/monitors/heartbeat/${heartbeat.id}`)
    await own.getByRole("link", { name: "Pager" }).waitFor()
    expect(await page.getByText(/^Nobody is notified/).count()).toBe(0)
    await client.notifications.updateChannel(pager.id, { paused: true })
    await page.reload()
    await main.getByText(/^Nobody is notified about this monitor: /).waitFor()

    await page.goto(`${w}/notifications/rules`)
    const tool = page.getByRole("group", { name: "Who would be notified" })
    await tool.getByLabel("Task or monitor: search").fill("Inv")
    await tool.getByRole("button", { name: "Invoices Cron task" }).click()
    await tool.getByRole("link", { name: "Chat" }).waitFor()
    await tool.getByRole("link", { name: "Chat" }).click()
    await page.getByRole("heading", { name: "Chat" }).waitFor()
    expect(problems).toEqual([])
  })

  it("is shown beside a monitor's test request", async () => {
    const { answer, url } = await startReceiver()
    Object.assign(answer, { status: 200, body: "all is well" })
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/monitors/http/new`)
    await page.getByLabel("URL", { exact: true }).fill(url)
    await page.getByLabel("Response contains").fill("is broken")
    await page.getByRole("button", { name: "Send now" }).click()
    const result = page.getByRole("status", { name: "Response" })
    await result.getByText("all is well").waitFor()
    await result.getByText("Failed").waitFor()
    await page.getByText("Every 1 min, 1,440 times a day").waitFor()
    await page.getByLabel("Checked from").selectOption("places")
    await page.getByLabel("Places", { exact: true }).fill("frankfurt\nlondon, fast")
    await page.getByText("frankfurt · london, fast").waitFor()
    await page.getByRole("heading", { name: "Send the request from frankfurt" }).waitFor()
    expect(problems).toEqual([])
  })
})
