import { describe, expect, it } from "vitest"
import { serveCertificate } from "./support/certificates.ts"
import { pagesOf, openPanelPage } from "./support/pages.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import { createUser } from "./support/users.ts"
import { startReceiver } from "./support/startReceiver.ts"

const hostile = [
  `<img src=x onerror="window.__ran=1">`,
  `<svg onload="window.__ran=1"></svg>`,
  `"><script>window.__ran=1</script>`,
  `javascript:window.__ran=1`,
  `{{constructor.constructor('window.__ran=1')()}}`
]

const all = hostile.join(" ").slice(0, 100)

describe.skipIf(skipReason !== undefined)("answers from others", () => {
  const panel = usePanel()

  it("run no script on any page", async () => {
    const person = await createUser(panel.url(), all, all)
    const { client } = person
    for (const name of hostile) {
      const written = name.replaceAll("{{", "{{ '{{' }}")
      await client.cron.create({
        name,
        schedule: "0 3 * * *",
        url: `${panel.url()}/v1/echo?${encodeURIComponent(name)}`,
        headers: { "x-note": written },
        body: written
      })
      await client.apiKeys.create({ name, scopes: ["tasks:read"] })
      await client.workers.create({ name })
    }
    await client.secrets.upsert("BILLING_TOKEN", {
      value: all,
      allowed_hosts: ["billing.example.com"],
      description: all
    })
    const { data: tasks } = await client.cron.list({ limit: 1 })
    await client.cron.runAndWait(tasks[0]?.id ?? "")

    const monitor = await client.heartbeatMonitors.create({
      name: all,
      tags: hostile.map((text) => text.slice(0, 50)),
      period_seconds: 3_600
    })
    await fetch(`${monitor.ping_url ?? ""}/fail`, {
      method: "POST",
      body: hostile.join("\n"),
      headers: { "user-agent": hostile[0] ?? "" }
    })
    const { answer, url } = await startReceiver()
    Object.assign(answer, { status: 500, body: hostile.join("\n") })
    const channel = await client.notifications.createChannel({
      name: all,
      kind: "webhook",
      config: { url: `${url}?${encodeURIComponent(all)}` }
    })
    await client.notifications.test(channel.id)
    await client.notifications.replaceSettings({
      version: 0,
      rules: [{ events: ["incident.opened"], channel_ids: [channel.id], tags: [all.slice(0, 50)] }]
    })
    const certificate = await client.sslMonitors.create({
      name: all,
      host: "127.0.0.1",
      port: await serveCertificate("hostile")
    })
    await expect
      .poll(async () => (await client.sslMonitors.get(certificate.id)).certificate?.subject, {
        // If a check fails because the machine is busy, the next check is a minute later.
        timeout: 90_000
      })
      .toContain("<script>")

    const { page, problems } = await panel.openAs(person)
    page.on("dialog", (dialog) => {
      // The browser asks for confirmation before leaving a form with unsaved input.
      if (dialog.type() === "beforeunload") return void dialog.accept()
      expect.unreachable("a script has run")
    })
    for (const one of await pagesOf(person)) {
      const { isPublic, name, path } = one
      // The workspace has no records of some kinds.
      if (isPublic || name === "palette" || path.includes("undefined")) continue
      await openPanelPage(page, panel.url(), one)
      const found = await page.evaluate(() => ({
        ran: "__ran" in window,
        elements: document.querySelectorAll("img, #root script, [onerror], [onload]").length,
        links: [...document.querySelectorAll("[href], [src]")].filter((element) =>
          /^\s*(?:javascript|data):/i.test(
            element.getAttribute("href") ?? element.getAttribute("src") ?? ""
          )
        ).length
      }))
      expect({ name, ...found }).toEqual({ name, ran: false, elements: 0, links: 0 })
      await one.after?.(page)
    }
    expect(problems).toEqual([])
  }, 600_000)
})
