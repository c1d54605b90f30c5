import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { openWithLiveEvents } from "./support/openWithLiveEvents.ts"
import { setVisibility } from "./support/setVisibility.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import { signIn, createUser } from "./support/users.ts"

/** Delays the request for live events until the test releases it. */
const holdEvents = async (page: Page) => {
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>()
  await page.route("**/events", async (route) => {
    await isLetGo
    await route.continue()
  })
  return letGo
}

describe.skipIf(skipReason !== undefined)("a change", () => {
  const panel = usePanel()

  const somebodyWithHeartbeat = async () => {
    const person = await createUser(panel.url())
    const { ping_url } = await person.client.heartbeatMonitors.create({
      name: "Import",
      period_seconds: 3_600
    })
    return { person, ping: (signal = "") => fetch(`${ping_url}${signal}`) }
  }

  it("before the events of a page begin is shown, the first time and after a reload", async () => {
    const { person, ping } = await somebodyWithHeartbeat()
    const { page, problems } = await panel.open()
    const letFirstGo = await holdEvents(page)
    const isRead = page.waitForResponse(/\/incidents\?/)
    await signIn(page, panel.url(), person)
    await (await isRead).finished()
    await ping("/fail")
    letFirstGo()
    await page.getByRole("link", { name: "Incidents 1 open" }).waitFor()

    await page.unroute("**/events")
    const letSecondGo = await holdEvents(page)
    const isReadAgain = page.waitForResponse(/\/incidents\?/)
    await page.reload()
    await (await isReadAgain).finished()
    await page.getByRole("link", { name: "Incidents 1 open" }).waitFor()
    await ping()
    letSecondGo()
    await page.getByRole("link", { name: "Incidents", exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  it("during the first request for a list is shown, although the response is older", async () => {
    const person = await createUser(panel.url())
    const { page } = await panel.open()
    await openWithLiveEvents(page, panel.url(), () => signIn(page, panel.url(), person))
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
    await page.route("**/monitors?limit=100", async (route) => {
      const response = await route.fetch()
      read()
      await isReleased
      await route.fulfill({ response })
    })
    await page.getByRole("link", { name: "Monitors" }).click()
    await isRead
    const isRefetched = page.waitForRequest(/\/incidents\?/)
    const { ping_url } = await person.client.heartbeatMonitors.create({
      name: "Import",
      period_seconds: 3_600
    })
    await fetch(`${ping_url}/fail`)
    await isRefetched
    release()
    await page.getByRole("link", { name: "Import" }).waitFor()
  })

  it("causes no second request if nothing has changed", async () => {
    const { person, ping } = await somebodyWithHeartbeat()
    const { page } = await panel.open()
    await openWithLiveEvents(page, panel.url(), () => signIn(page, panel.url(), person))
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (/activity|forecast|stats/.test(request.url())) asked.push(request.url())
    })
    const isLive = page.waitForResponse("**/events")
    await page.reload()
    await isLive
    await ping("/fail")
    await page.getByRole("link", { name: "Incidents 1 open" }).waitFor()
    expect(asked.length).toBeGreaterThan(2)
    expect(asked).toEqual([...new Set(asked)])
  })

  it("just before the tab is hidden is fetched when it is shown again", async () => {
    const { person, ping } = await somebodyWithHeartbeat()
    const { page } = await panel.open()
    await openWithLiveEvents(page, panel.url(), () => signIn(page, panel.url(), person))
    await page.getByRole("link", { name: "Incidents", exact: true }).waitFor()
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (request.url().includes("/incidents")) asked.push(request.url())
    })
    const lastEventId = new Date(Date.now() - 1_000).toISOString()
    await ping("/fail")
    for await (const { type } of person.client.events.stream({ lastEventId })) {
      if (type === "incident.opened") break
    }
    await setVisibility(page, "hidden")
    await page.clock.runFor(60_000)
    expect(asked).toEqual([])
    await page.clock.resume()
    await setVisibility(page, "visible")
    await page.getByRole("link", { name: "Incidents 1 open" }).waitFor()
  })
})

describe.skipIf(skipReason !== undefined)("the search", () => {
  const panel = usePanel()

  it("finds records by their keys, URLs and ids", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const task = await client.cron.create({
      key: "payroll:monthly",
      name: "Salaries",
      schedule: "0 5 1 * *",
      url: "https://api.example.com/pay"
    })
    await client.queues.create({ name: "Imports", max_concurrency: 2 })
    const channel = await client.notifications.createChannel({
      name: "Pager",
      kind: "webhook",
      config: { url: "https://api.example.com/alerts" }
    })
    await client.escalations.upsert("night", {
      name: "Night shift",
      steps: [{ after_seconds: 0, channel_ids: [channel.id] }]
    })
    await page.goto(`${panel.url()}/w/${workspaceId}/cron`)
    await page.getByRole("row", { name: /Salaries/ }).waitFor()
    const search = page.getByRole("combobox", { name: "Search" })
    for (const text of ["payroll", "com/pay", task.id]) {
      await page.keyboard.press("Control+k")
      await search.fill(text)
      await page.getByRole("option", { name: "Salaries Cron task" }).click()
      await page.getByRole("heading", { name: "Salaries", exact: true }).waitFor()
    }
    await page.keyboard.press("Control+k")
    await search.fill("impor")
    await page.getByRole("option", { name: "Imports Queue" }).click()
    await page.getByRole("heading", { name: "Queues" }).waitFor()
    await page.keyboard.press("Control+k")
    await search.fill("night shift")
    await page.getByRole("option", { name: "Night shift Escalation policy" }).click()
    await page.getByRole("row", { name: /Night shift/ }).waitFor()
    await client.maintenance.upsert("db", {
      name: "Database upgrade",
      schedule: "0 2 * * sun",
      duration_seconds: 3_600,
      everything: true
    })
    const slug = `acme-${workspaceId}`
    await client.statusPages.upsert(slug, { title: "Acme status", groups: [] })
    await page.keyboard.press("Control+k")
    await search.fill("upgrade")
    await page.getByRole("option", { name: "Database upgrade Maintenance window" }).click()
    await page.getByRole("row", { name: /Database upgrade/ }).waitFor()
    await page.keyboard.press("Control+k")
    await search.fill(slug)
    await page.getByRole("option", { name: "Acme status Status page" }).click()
    await page.getByRole("row", { name: /Acme status/ }).waitFor()
    expect(problems).toEqual([])
  })

  it("reports that its code cannot be loaded, and opens when it can", async () => {
    const { page, problems } = await panel.open()
    const palette = "**/assets/Palette-*.js"
    await page.route(palette, (route) => route.abort())
    const hasFailed = page.waitForEvent("requestfailed")
    await signIn(page, panel.url(), await createUser(panel.url()))
    await hasFailed
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByText("The service cannot be reached.").waitFor()
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await page.unroute(palette)
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search" }).waitFor()
    expect(problems).toEqual([])
  })
})
