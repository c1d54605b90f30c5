import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("the page of an incident", () => {
  const panel = usePanel()

  it("shows what changed since the last success, earlier incidents, and repairs the task", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const good = `${panel.url()}/v1/echo`
    const bad = `${panel.url()}/nowhere`
    const task = await client.cron.create({
      name: "Report",
      url: good,
      schedule: "0 3 1 1 *",
      retry_count: 0
    })
    const runWith = async (url: string) => {
      await client.cron.update(task.id, { url })
      await client.cron.runAndWait(task.id)
    }
    const incidents = async () => (await client.incidents.list({ subject_id: task.id })).data
    await runWith(good)
    await runWith(bad)
    await expect.poll(async () => (await incidents()).length).toBe(1)
    await runWith(good)
    await expect.poll(async () => (await incidents())[0]?.status).toBe("closed")
    await runWith(bad)
    await expect.poll(async () => (await incidents()).length).toBe(2)
    const [latest, first] = await incidents()

    await page.goto(`${panel.url()}/w/${workspaceId}/incidents/${latest?.id}`)
    const compared = page.getByRole("group", { name: "Compared with the last success" })
    await compared.getByText("404", { exact: true }).waitFor()
    const earlier = page.getByRole("table", { name: "Incidents" })
    await earlier.getByRole("link", { name: "Responded with 404 Not Found" }).click()
    await page.waitForURL(`**/incidents/${first?.id}`)
    await page.getByText("No earlier incidents.").waitFor()

    await page.goto(`${panel.url()}/w/${workspaceId}/incidents/${latest?.id}`)
    const changed = page.getByRole("group", { name: "Changed before the failure" })
    await changed.getByText("Ada Lovelace changed url").waitFor()
    expect(await changed.locator("mark").allTextContents()).toEqual(["v1/echo", "nowhere"])
    await changed.getByRole("button", { name: "Restore the version before" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click()
    await changed.getByText("Changed again after the failure.").waitFor()
    expect((await client.cron.get(task.id)).url).toBe(good)
    // The page still shows the URL that failed.
    await page.getByText(`POST ${bad}`, { exact: true }).waitFor()
    await page.getByRole("button", { name: "Run again" }).click()
    await page.waitForURL("**/executions/**")
    await expect.poll(async () => (await incidents())[0]?.status).toBe("closed")
    expect(problems).toEqual([])
  })

  it("warns if nobody is notified, takes notes, and checks a monitor again on demand", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const { id } = await client.httpMonitors.create({
      name: "Site",
      url: `${panel.url()}/nowhere`,
      confirm_after: 1
    })
    const incidents = async () => (await client.incidents.list({ subject_id: id })).data
    await expect.poll(async () => (await incidents()).length, { timeout: 20_000 }).toBe(1)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${panel.url()}/w/${workspaceId}/incidents/${(await incidents())[0]?.id}`)
    await page.getByText("Nobody is notified about this monitor.").waitFor()
    await page.getByRole("link", { name: "Change the rules" }).waitFor()
    const sizeOf = async (name: string) => (await page.getByRole("button", { name }).boundingBox())!
    expect((await sizeOf("Close")).width).toBe((await sizeOf("Acknowledge")).width)
    const note = page.getByLabel("Note")
    const heightOfNote = async () => (await note.boundingBox())!.height
    const collapsed = await heightOfNote()
    expect(collapsed).toBeLessThan(40)
    await note.focus()
    await expect.poll(heightOfNote).toBeGreaterThan(2 * collapsed)

    const channel = await client.notifications.createChannel({
      name: "Chat",
      kind: "webhook",
      config: { url: `${panel.url()}/v1/echo` }
    })
    const { version } = await client.notifications.getSettings()
    const rules = [{ events: ["incident.opened" as const], channel_ids: [channel.id] }]
    await client.notifications.replaceSettings({ version, rules })
    const recipients = page.waitForResponse(/\/recipients\?/)
    await page.reload()
    await (await recipients).finished()
    const checked = async () => (await client.httpMonitors.get(id)).last_check?.at
    const before = await checked()
    await page.getByRole("button", { name: "Check now" }).click()
    await page.getByText("The check was requested.", { exact: false }).waitFor()
    await expect.poll(checked).not.toBe(before)
    expect(await page.getByText("Nobody is notified").count()).toBe(0)
    expect(problems).toEqual([])
  })
})
