import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("a part of a page that cannot be loaded", () => {
  const panel = usePanel()

  /** Opens a page and rejects one of its requests. The rest of the page must still be shown. */
  const openWithout = async (
    page: Page,
    path: string,
    request: RegExp,
    rest: string,
    prepare?: () => Promise<unknown>
  ) => {
    const message = `No answer for ${path}`
    await page.route(request, (route) =>
      route.fulfill({ status: 400, json: { detail: { error: "invalid", message } } })
    )
    await page.goto(panel.url() + path)
    await page.getByText(rest).first().waitFor()
    await prepare?.()
    await page.getByText(message).waitFor()
    await page.unroute(request)
  }

  it("says so, and the rest of the page is shown", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const w = `/w/${workspaceId}`
    const task = await client.cron.create({
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`
    })
    const execution = await client.cron.runAndWait(task.id)
    const channel = await client.notifications.createChannel({
      name: "Operations",
      kind: "webhook",
      config: { url: `${panel.url()}/v1/echo` }
    })
    await client.notifications.test(channel.id)
    const channelPath = `${w}/notifications/channels/${channel.id}`

    await openWithout(page, `${w}/executions/${execution.id}`, /\/cron\/[^/]+$/, "Attempt")
    await openWithout(page, channelPath, /\/notifications\/kinds$/, "Deliveries")
    await openWithout(page, channelPath, /\/notifications\/settings$/, "Deliveries")
    await openWithout(page, `${w}/notifications/deliveries`, /\/channels\?/, "to a channel")
    await openWithout(page, `${w}/cron/new`, /\/workers\?/, "Runs on", () =>
      page.getByLabel("Runs on").selectOption("workers")
    )
    await openWithout(page, `${w}/executions`, /\/chains\?/, "Nightly report", () =>
      page.getByLabel("Task or execution id").fill("Nightly")
    )
    await openWithout(page, `${w}/cron/${task.id}`, /\/executions\/stats\?/, "Nightly report")
    expect(problems).toEqual([])
  })
})
