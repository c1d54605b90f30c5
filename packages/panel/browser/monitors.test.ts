import { describe, expect, it } from "vitest"
import { serveCertificate } from "./support/certificates.ts"
import { openWithLiveEvents } from "./support/openWithLiveEvents.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import { startNameServer } from "./support/startNameServer.ts"
import { startReceiver } from "./support/startReceiver.ts"

describe.skipIf(skipReason !== undefined)("monitors", () => {
  const panel = usePanel()

  it("show a heartbeat from its first ping to an incident and back", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/monitors`)
    await page.getByRole("link", { name: "New heartbeat monitor" }).first().click()
    await page.getByLabel("Name").fill("Nightly backup")
    await page.getByLabel("Tags").fill("billing, nightly")
    await page.getByLabel("Schedule", { exact: true }).fill("0 3 * * *")
    await page.getByText("At 03:00").waitFor()
    await page.getByRole("button", { name: "Create heartbeat monitor" }).click()
    await page.getByText("Waiting for the first ping").waitFor()
    const url = (await page.getByRole("region", { name: "ping URL" }).textContent()) ?? ""
    for (const recipe of ["crontab", "systemd", "GitHub Actions"]) {
      await page.getByRole("tab", { name: recipe }).click()
      const text = await page.getByRole("region", { name: `Ping: ${recipe}` }).textContent()
      expect(text).toContain(url)
    }

    await fetch(url, { method: "POST", body: "wrote 41 GB" })
    await page.getByRole("row", { name: /Success.*wrote 41 GB/ }).waitFor()
    await page.getByText("Up", { exact: true }).waitFor()

    await fetch(`${url}/fail`, { method: "POST", body: "disk full" })
    await page.getByRole("row", { name: /Fail.*disk full/ }).waitFor()
    await page.getByRole("link", { name: "Incidents 1 open" }).waitFor()
    await expect.poll(() => page.title()).toBe("(1) Nightly backup · Scheduling")
    await page.goto(`${panel.url()}/w/${person.workspaceId}/incidents?open=true`)
    await page.getByRole("link", { name: "Nightly backup" }).click()
    await page.getByRole("button", { name: "Acknowledge" }).click()
    const timeline = page.getByRole("list", { name: "Timeline" })
    await timeline.getByText("Acknowledged by Ada Lovelace").waitFor()
    await page.getByLabel("Note").fill("Deleting old backups.")
    await page.getByRole("button", { name: "Add note" }).click()
    await timeline.getByText("Deleting old backups.").waitFor()
    await fetch(url)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/monitors?status=up&tag=billing`)
    await page.getByRole("row", { name: /Up.*Nightly backup/ }).waitFor()
    await page.getByRole("button", { name: "Actions for Nightly backup" }).click()
    await page.getByRole("menuitem", { name: "Pause" }).click()
    await page.getByText("No monitors match the filters").waitFor()
    await page.getByRole("button", { name: "Paused 1" }).click()
    await page.getByRole("row", { name: /Paused.*Nightly backup/ }).waitFor()
    expect(problems).toEqual([])
  })

  it("are checked from the places of workers", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    await page.goto(`${panel.url()}/w/${workspaceId}/monitors/http/new`)
    await page.getByLabel("Name").fill("Intranet")
    await page.getByLabel("URL", { exact: true }).fill("http://10.9.8.7/")
    await page.getByLabel("Checked from").selectOption("Places of workers")
    await page.getByLabel("Places", { exact: true }).fill("berlin\noslo, rack-2")
    await page.getByLabel("A check counts as failed if it fails").selectOption("At all places")
    await page.getByRole("button", { name: "Create HTTP monitor" }).click()
    await page.getByRole("heading", { name: "Intranet" }).waitFor()
    const [monitor] = (await client.httpMonitors.list()).data
    expect(monitor).toMatchObject({
      places: [{ labels: ["berlin"] }, { labels: ["oslo", "rack-2"] }],
      down_when: "all"
    })
    await page.getByText("no result from 2. A check fails if it fails at all places.").waitFor()
    await page.getByText("oslo").first().waitFor()
    expect(problems).toEqual([])
  })

  it("replace a ping URL and change a heartbeat", async () => {
    const { page, person } = await panel.openAs()
    const { id, ping_url } = await person.client.heartbeatMonitors.create({
      name: "Import",
      period_seconds: 3_600
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/monitors/heartbeat/${id}`)
    await page.getByRole("button", { name: "Actions for Import" }).click()
    await page.getByRole("menuitem", { name: "Replace the ping URL" }).click()
    await page.getByRole("button", { name: "Replace URL", exact: true }).click()
    await page.getByText("The ping URL was replaced").waitFor()
    expect((await fetch(ping_url ?? "")).status).toBe(404)

    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByLabel("Ping interval", { exact: true }).fill("2")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("Every 2 h").waitFor()

    await page.keyboard.press("Control+k")
    let asked = 0
    page.on("request", (request) => {
      if (request.url().includes("/search?")) asked++
    })
    const search = page.getByRole("combobox", { name: "Search" })
    await search.waitFor()
    // On a busy machine, there can be so much time between keystrokes that each one causes a
    // request.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await search.pressSequentially("import")
    expect(asked).toBe(0)
    await page.clock.resume()
    await page.getByRole("option", { name: /Import.*Heartbeat/ }).waitFor()
    expect(asked).toBe(1)
    await page.getByRole("option", { name: /Import.*Heartbeat/ }).click()
    await page.getByRole("heading", { name: "Import" }).waitFor()
  })

  it("show no full uptime while they are down", async () => {
    const { page, person, problems } = await panel.openAs()
    const { id, ping_url } = await person.client.heartbeatMonitors.create({
      name: "Import",
      period_seconds: 3_600
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/monitors/heartbeat/${id}`)
    await page.getByText("Waiting for the first ping").waitFor()
    await fetch(`${ping_url}/fail`)
    await page.getByRole("img", { name: "Up 0% of the time, 1 incident in 30 days" }).waitFor()
    await fetch(ping_url ?? "")
    await page.getByRole("row", { name: /Success/ }).waitFor()
    const strip = page.getByRole("img", { name: /of the time, 1 incident in 30 days/ })
    await expect.poll(() => strip.getAttribute("aria-label")).not.toMatch(/^Up (?:0|100) %/)
    expect(problems).toEqual([])
  })

  it("show times in the zone of the reader", async () => {
    const { page, person, problems } = await panel.openAs(undefined, {
      timezoneId: "America/New_York"
    })
    const at = "2026-11-24T23:53:35.079Z"
    await page.route("**/incidents?*", async (route) => {
      const answer = await route.fetch()
      const { data, ...rest } = await answer.json()
      const message = `No ping arrived by ${at}.`
      await route.fulfill({
        json: {
          ...rest,
          data: data.map((one: object) => ({ ...one, cause: { code: "missed", message } }))
        }
      })
    })
    const { client, workspaceId } = person
    const { ping_url } = await client.heartbeatMonitors.create({
      name: "Import",
      period_seconds: 3_600
    })
    await fetch(`${ping_url}/fail`)
    for (const path of ["/incidents", ""]) {
      await page.goto(`${panel.url()}/w/${workspaceId}${path}`)
      await page.getByText("No ping arrived by 24 Nov, 18:53.").waitFor()
      const title = await page.locator(`time[datetime="${at}"]`).getAttribute("title")
      expect(title).toContain("24 Nov 2026, 23:53:35 UTC")
    }

    const backup = { name: "Backup", schedule: "0 5 * * *", timezone: "UTC", grace_seconds: 60 }
    const monitor = await client.heartbeatMonitors.create(backup)
    await page.goto(`${panel.url()}/w/${workspaceId}/monitors/heartbeat/${monitor.id}`)
    await page.getByText("Every day at 05:00 UTC").waitFor()
    await page.getByText("Times in America/New_York").waitFor()

    const task = { name: "Report", url: `${panel.url()}/v1/echo`, schedule: "0 5 * * *" }
    const { id } = await client.cron.create(task)
    for (const path of [`/cron/${id}`, "/cron"]) {
      await page.goto(`${panel.url()}/w/${workspaceId}${path}`)
      await page.getByText("Every day at 05:00 UTC").waitFor()
      await page.getByText("Times in America/New_York").waitFor()
    }
    await client.cron.update(id, { timezone: "America/New_York" })
    await page.getByText("Every day at 05:00", { exact: true }).waitFor()
    await page.getByText("Times in").waitFor({ state: "detached" })
    expect(problems).toEqual([])
  })

  it("are named in a list of incidents without further requests", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const w = `${panel.url()}/w/${workspaceId}`
    await openWithLiveEvents(page, panel.url(), () => page.goto(w))
    // Leave the overview, because it also fetches monitor names.
    await page.goto("about:blank")
    const fourth = await client.heartbeatMonitors.create({ name: "Sync", period_seconds: 3_600 })
    for (const name of ["Import", "Export", "Backup"]) {
      const { ping_url } = await client.heartbeatMonitors.create({ name, period_seconds: 3_600 })
      await fetch(`${ping_url}/fail`)
    }
    const asked: Array<URL> = []
    page.on("request", (request) => asked.push(new URL(request.url())))
    await page.goto(`${w}/incidents`)
    for (const name of ["Import", "Export", "Backup"]) {
      await page.getByRole("row", { name: new RegExp(name) }).waitFor()
    }
    await fetch(`${fourth.ping_url}/fail`)
    await page.getByRole("row", { name: /Sync/ }).waitFor()
    expect(asked.filter(({ pathname }) => pathname.includes("/monitors"))).toEqual([])
    expect(problems).toEqual([])
  })

  it("are tested before they are created", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const { answer, url } = await startReceiver()
    const open = async (kind: string) => {
      await page.goto(`${panel.url()}/w/${workspaceId}/monitors/${kind}/new`)
      await page.getByRole("button", { name: "Check now", disabled: true }).waitFor()
    }
    const test = page.getByRole("button", { name: "Check now" })
    const result = page.getByRole("status", { name: "Test result" })

    await open("http")
    answer.body = '{"status":"degraded"}'
    await page.getByLabel("URL", { exact: true }).fill(url)
    await test.click()
    await result.getByText("200", { exact: true }).waitFor()
    await page.getByLabel("Response does not contain").fill("degraded")
    await result.waitFor({ state: "detached" })
    await test.click()
    await result.getByText(/contains "degraded"/).waitFor()

    await open("tcp")
    await page.getByLabel("Host").fill("127.0.0.1")
    await page.getByLabel("Port").fill(new URL(url).port)
    await test.click()
    await result.getByText("ok", { exact: true }).waitFor()
    await result.getByText(/^connecting \d+ ms$/).waitFor()
    await page.getByLabel("Host").fill("10.0.0.1")
    await test.click()
    await page.getByText(/must not lead to 10\.0\.0\.1/).waitFor()
    await page.getByLabel("Checked from").selectOption("Places of workers")
    await page.getByText("Workers check this target, so the service cannot test it.").waitFor()
    expect(await test.isDisabled()).toBe(true)

    await open("dns")
    await page.getByLabel("Host").fill("www.example.com")
    await page.getByLabel("Name server").fill(await startNameServer("192.0.2.10"))
    await test.click()
    await result.getByText("192.0.2.10", { exact: true }).waitFor()

    await open("ssl")
    await page.getByLabel("Host").fill("127.0.0.1")
    await page.getByLabel("Port").fill(String(await serveCertificate("plain")))
    await test.click()
    await result.getByText("self signed").waitFor()
    await result.getByText("CN=www.acme.example").first().waitFor()

    expect((await client.monitors.list()).data).toEqual([])
    expect(problems).toEqual([])
  })

  it("show the certificate of a server and check it on demand", async () => {
    const { page, person } = await panel.openAs()
    const port = await serveCertificate("plain")
    await page.goto(`${panel.url()}/w/${person.workspaceId}/monitors/ssl/new`)
    await page.getByLabel("Host").fill(`https://127.0.0.1:${port}/shop`)
    await page.getByLabel("Name", { exact: true }).fill("Shop")
    expect(await page.getByLabel("Host").inputValue()).toBe("127.0.0.1")
    expect(await page.getByLabel("Port").inputValue()).toBe(String(port))
    await page.getByRole("button", { name: "Create SSL monitor" }).click()
    await page.getByText("CN=www.acme.example").first().waitFor()
    await page.getByText("self signed").first().waitFor()
    await page.getByText("Not checked yet").waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Check now" }).click()
    await page.getByRole("table", { name: "Checks" }).getByRole("row").nth(2).waitFor()
  })
})
