import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { serveCertificate } from "./support/certificates.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import type { PanelUser } from "./support/users.ts"
import { poll } from "./support/poll.ts"
import { startReceiver } from "./support/startReceiver.ts"

/**
 * Creates an expired certificate, a task with a wrong URL, and a target that is down. Other records
 * are changed before the task fails.
 */
const plantFailures = async ({ client }: PanelUser, goodUrl: string, wrongUrl: string) => {
  await client.sslMonitors.create({
    name: "Website",
    host: "127.0.0.1",
    port: await serveCertificate("expired"),
    server_name: "www.acme.example"
  })
  const allowed_hosts = [new URL(goodUrl).origin, new URL(wrongUrl).origin]
  await client.secrets.upsert("SHOP_TOKEN", { value: "right", allowed_hosts })
  const { id } = await client.cron.create({
    name: "Invoices",
    schedule: "0 5 * * *",
    url: goodUrl,
    body: "{{ secrets.SHOP_TOKEN }}",
    retry_count: 0
  })
  const job = { name: "Import", schedule: "0 5 * * *", url: goodUrl }
  const { id: importId } = await client.cron.create(job)
  await client.cron.runAndWait(id)
  await client.secrets.upsert("SHOP_TOKEN", { value: "wrong", allowed_hosts })
  await client.cron.pause(importId)
  await client.cron.resume(importId)
  for (const tag of ["a", "b", "c"]) await client.cron.update(importId, { tags: [tag] })
  await client.cron.update(id, { url: wrongUrl })
  await client.cron.runAndWait(id)
  await client.httpMonitors.create({
    name: "Shop",
    url: "http://127.0.0.1:9/health",
    confirm_after: 1
  })
  await poll(async () => (await client.incidents.list({ status: "open" })).data.length === 3)
}

/** Opens the overview and clicks a link in its list of problems. */
const openFromOverview = async (page: Page, name: string) => {
  await page.getByRole("link", { name: "Overview" }).click()
  const list = page.getByRole("table", { name: "Current problems" })
  await list.getByRole("link", { name, exact: true }).click()
}

describe.skipIf(skipReason !== undefined)("the cause of a failure", () => {
  const panel = usePanel()

  it("is found from the overview with one click", async () => {
    const { url } = await startReceiver()
    const { page, person, problems } = await panel.openAs()
    const wrongUrl = `${panel.url()}/nowhere`
    await plantFailures(person, url, wrongUrl)
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)

    const list = page.getByRole("table", { name: "Current problems" })
    await list.getByRole("row", { name: /Down.*Shop.*HTTP monitor/s }).waitFor()
    // One row has the heads of the columns.
    expect(await list.getByRole("row").count()).toBe(4)

    await openFromOverview(page, "Shop")
    await page.getByText("Failed: Connection refused.").waitFor()
    await page.getByText("Incident opened", { exact: true }).waitFor()
    await page.getByText("GET http://127.0.0.1:9/health", { exact: true }).waitFor()
    // The monitor itself was not changed, so the changes of other records are expanded.
    const others = page.getByRole("list", { name: "Changes to other records" })
    await others.getByText("Ada Lovelace resumed the cron task Import").waitFor()

    await openFromOverview(page, "Website")
    await page.getByText("Failed: The certificate expired on 2026-05-03.").waitFor()
    await page.getByRole("definition").getByText("3 May, 12:00").waitFor()
    const target = page.getByText(/^www\.acme\.example at 127\.0\.0\.1:\d+$/)
    await target.waitFor()
    await page.getByRole("definition").getByRole("link", { name: "Website" }).click()
    await page.getByRole("heading", { name: "Certificate" }).waitFor()
    await target.waitFor()

    for (const link of ["Invoices", "Execution of Invoices"]) {
      await openFromOverview(page, link)
      await page.getByText("Responded with 404 Not Found").first().waitFor()
      await page.getByText(`POST ${wrongUrl}`, { exact: true }).waitFor()
      const changed = page.getByRole("group", { name: "Changed before the failure" })
      await changed.getByText("Ada Lovelace changed url").waitFor()
      await changed.getByText(url).waitFor()
      await changed.getByText(wrongUrl).waitFor()
      await page.getByText("6 changes to other records in the hour before").click()
      // A secret that the task uses comes before later changes.
      await others
        .getByRole("listitem")
        .first()
        .filter({
          hasText: /set a new value for the secret SHOP_TOKEN, which this task uses/
        })
        .waitFor()
      await others.getByText(/Ada Lovelace paused the cron task Import/).waitFor()
    }
    const header = page.locator("header").filter({ has: page.getByRole("heading", { level: 1 }) })
    await openFromOverview(page, "Task Invoices")
    await page.getByRole("heading", { name: "Invoices" }).waitFor()
    await header.getByText("Failing", { exact: true }).waitFor()
    await header.getByText("responded with 404").waitFor()
    await header.getByRole("link", { name: "Show the incident" }).waitFor()
    await openFromOverview(page, "Monitor Shop")
    await header.getByText("GET http://127.0.0.1:9/health").waitFor()
    await header.getByText("Connection refused.").waitFor()
    await header.getByRole("link", { name: "Show the incident" }).click()
    await page.getByText("Failed: Connection refused.").waitFor()

    await person.client.heartbeatMonitors.create({ name: "Backup", period_seconds: 3_600 })
    await page.getByRole("link", { name: "Monitors", exact: true }).first().click()
    const monitors = page.getByRole("table", { name: "Monitors" })
    const problemsFirst = [
      /Down.*Shop.*Connection refused/s,
      /Down.*Website.*The certificate expired/s,
      /New.*Backup/s
    ]
    for (const [index, row] of problemsFirst.entries()) {
      await monitors
        .getByRole("row")
        .nth(index + 1)
        .filter({ hasText: row })
        .waitFor()
    }

    for (const { id, subject } of (await person.client.incidents.list({ open: "true" })).data) {
      if (subject.name === "Shop") await person.client.incidents.acknowledge(id)
      if (subject.name === "Invoices") await person.client.incidents.close(id)
    }
    await page.getByRole("link", { name: "Overview" }).click()
    const worstFirst = [/Down.*Website/s, /Failing.*Invoices/s, /Acknowledged.*Shop/s]
    for (const [index, row] of worstFirst.entries()) {
      await list
        .getByRole("row")
        .nth(index + 1)
        .filter({ hasText: row })
        .waitFor()
    }

    // A monitor with the same name is told apart by its host.
    const other = { name: "Shop", url: "http://127.0.0.1:7/health", confirm_after: 1 }
    await person.client.httpMonitors.create(other)
    await list.getByText("HTTP monitor · 127.0.0.1:7", { exact: true }).waitFor()
    await list.getByText("HTTP monitor · 127.0.0.1:9", { exact: true }).waitFor()

    await openFromOverview(page, "Task Invoices")
    await header.getByText(/^The latest run failed/).waitFor()
    await header.getByRole("link", { name: "Show the run" }).click()
    await page.getByText("responded with 404").first().waitFor()
    expect(problems).toEqual([])
  })
})
