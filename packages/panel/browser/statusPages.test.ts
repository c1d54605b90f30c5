import axe from "axe-core"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { runShell } from "./support/shell.ts"

describe.skipIf(skipReason !== undefined)("a status page", () => {
  const panel = usePanel()

  it("is created from monitors and tags in the form, and is public", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const slug = `acme-${workspaceId.slice(-8)}`
    await client.heartbeatMonitors.create({ name: "Checkout", period_seconds: 3_600 })
    await client.heartbeatMonitors.create({
      name: "Search",
      period_seconds: 3_600,
      tags: ["public"]
    })
    await page.goto(`${panel.url()}/w/${workspaceId}/status-pages`)
    const { key } = await client.apiKeys.create({ name: "CI", scopes: ["monitors:write"] })
    const curl = page.getByRole("region", { name: "Create a status page: curl" })
    const example = ((await curl.textContent()) ?? "").replaceAll("acme", `${slug}-example`)
    expect(JSON.parse(await runShell(example, { API_KEY: key }))).toMatchObject({ version: 1 })

    await page.getByRole("button", { name: "New status page" }).first().click()
    await page.getByRole("textbox", { name: "Title" }).fill("Acme status")
    await page.getByRole("textbox", { name: "Address" }).fill(slug.toUpperCase())
    await page.getByLabel("Heading").fill("Website")
    await page.getByLabel("Monitors: search").fill("Check")
    await page.getByRole("button", { name: "Checkout Heartbeat" }).click()
    await page.getByRole("button", { name: "Add a group" }).click()
    await page.getByLabel("Heading").nth(1).fill("API")
    await page.getByLabel("Monitors with these tags").nth(1).fill("public")
    await page.getByLabel("Headline").fill("Welcome")
    await page.getByLabel("Text", { exact: true }).fill("This page is new.")
    await page.getByRole("button", { name: "Create status page" }).click()
    await page.getByRole("link", { name: `/status/${slug}`, exact: true }).waitFor()

    const shown = await fetch(`${panel.url()}/status/${slug}.json`)
    expect(await shown.json()).toMatchObject({
      groups: [
        { name: "Website", monitors: [{ name: "Checkout", status: "new" }] },
        { name: "API", monitors: [{ name: "Search" }] }
      ],
      notices: [{ title: "Welcome", state: "current" }]
    })
    await page.getByRole("button", { name: "Actions for Acme status" }).first().click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("About").selectOption("Update: Welcome")
    await page.getByLabel("Text", { exact: true }).fill("It is still new.")
    await page.getByLabel("Readers need a password").check()
    await page.getByLabel("Password", { exact: true }).fill("for our customers")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByLabel("Needs a password").waitFor()
    expect(await client.statusPages.get(slug)).toMatchObject({
      has_password: true,
      notices: [{ title: "Welcome", updates: [{ text: "It is still new." }] }]
    })

    await page.getByRole("button", { name: "Actions for Acme status" }).first().click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Published").uncheck()
    await page.getByLabel("Readers need a password").uncheck()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("Not published").waitFor()
    expect(await client.statusPages.get(slug)).toMatchObject({
      version: 3,
      has_password: false,
      notices: [{}]
    })
    expect(problems).toEqual([])
  })

  it("is read without JavaScript, at any width, and passes axe", async () => {
    const { person } = await panel.openAs()
    const { client, workspaceId } = person
    const slug = `shop-${workspaceId.slice(-8)}`
    const tags = ["public"]
    for (let n = 1; n <= 18; n++) {
      await client.heartbeatMonitors.create({ name: `Service ${n}`, period_seconds: 3_600, tags })
    }
    const good = await client.heartbeatMonitors.create({
      name: "Checkout",
      period_seconds: 3_600,
      tags
    })
    const bad = await client.heartbeatMonitors.create({
      name: "Search",
      period_seconds: 3_600,
      tags
    })
    await fetch(String(good.ping_url))
    await fetch(`${bad.ping_url}/fail`)
    await client.statusPages.upsert(slug, {
      title: "Shop",
      description: "How the shop is.",
      groups: [{ name: "Website", tags }],
      notices: [
        { title: "Slow search", text: "We work on it.", posted_at: new Date().toISOString() }
      ]
    })
    const address = `${panel.url()}/status/${slug}`
    const { page, problems } = await panel.open({
      javaScriptEnabled: false,
      viewport: { width: 320, height: 640 }
    })
    const requests: Array<string> = []
    page.on("request", (request) => requests.push(request.url()))
    const response = await page.goto(address)
    expect((await response?.body())?.byteLength).toBeLessThan(30_000)
    await page.getByRole("heading", { name: "Shop", level: 1 }).waitFor()
    await page.getByRole("heading", { name: "Slow search" }).waitFor()
    expect(await page.getByRole("status").textContent()).toMatch(/problem|down/i)
    await page.getByRole("listitem").filter({ hasText: "Checkout" }).first().waitFor()
    const widest = await page.locator("main").evaluate((main) => main.scrollWidth)
    expect(widest).toBeLessThanOrEqual(320)
    await page.getByRole("link", { name: "JSON" }).click()
    expect(page.url()).toBe(`${address}.json`)
    expect(new Set(requests)).toEqual(new Set([address, `${address}.json`]))

    // The page's content security policy would block axe's script.
    const reader = await panel.open({ bypassCSP: true })
    await reader.page.goto(address)
    await reader.page.evaluate(axe.source)
    for (const colorScheme of ["light", "dark"] as const) {
      await reader.page.emulateMedia({ colorScheme })
      const { violations } = await reader.page.evaluate(() =>
        (globalThis as unknown as { readonly axe: typeof axe }).axe.run({
          rules: {
            "target-size": { enabled: true },
            // The page reloads every minute to show the current state. It has no input that a
            // reader could lose.
            "meta-refresh": { enabled: false }
          }
        })
      )
      expect(violations.map(({ help, nodes }) => `${help}: ${nodes[0]?.html}`)).toEqual([])
    }
    expect([...problems, ...reader.problems]).toEqual([])
  })
})
