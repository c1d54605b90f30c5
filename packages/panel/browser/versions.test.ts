import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("the versions", () => {
  const panel = usePanel()

  it("of delayed tasks, monitors, channels and queues are shown and restored", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client } = person
    const w = `${panel.url()}/w/${person.workspaceId}`
    const task = await client.delayed.create({
      name: "Before",
      url: "https://example.com",
      delay_seconds: 3_600
    })
    const monitor = await client.heartbeatMonitors.create({ name: "Before", period_seconds: 3_600 })
    const channel = await client.notifications.createChannel({
      name: "Before",
      kind: "webhook",
      config: { url: "https://example.com" }
    })
    const queue = await client.queues.create({ name: "Before", max_concurrency: 2 })
    const after = { name: "After" }
    await client.delayed.update(task.id, after)
    await client.heartbeatMonitors.update(monitor.id, after)
    await client.notifications.updateChannel(channel.id, after)
    await client.queues.update(queue.id, after)

    const restore = async () => {
      const versions = page.getByRole("list", { name: "Versions" })
      await versions.getByText("Version 2", { exact: true }).click()
      await versions.getByText("Before").waitFor()
      await versions.getByText("Version 1", { exact: true }).click()
      await page.getByRole("button", { name: "Restore version 1" }).click()
      const asked = page.getByRole("dialog", { name: "Restore version 1 of After?" })
      await asked.getByRole("button", { name: "Restore" }).click()
      await page.getByText("Version 1 of After was restored").waitFor()
    }
    for (const at of [
      `delayed/${task.id}`,
      `monitors/heartbeat/${monitor.id}`,
      `notifications/channels/${channel.id}`
    ]) {
      await page.goto(`${w}/${at}`)
      await restore()
      await page.getByRole("heading", { name: "Before" }).waitFor()
    }
    await page.goto(`${w}/queues`)
    await page.getByRole("button", { name: "Actions for After" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await restore()
    await page.getByRole("button", { name: "Actions for Before" }).waitFor()
    expect(problems).toEqual([])
  })
})
