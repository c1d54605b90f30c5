import { describe, expect, it } from "vitest"
import { missing, usePanel } from "./support/panel.ts"
import { runShell } from "./support/shell.ts"

describe.skipIf(missing !== undefined)("a status page", () => {
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
    await page.getByLabel("Published").uncheck()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("Not published").waitFor()
    expect(await client.statusPages.get(slug)).toMatchObject({ version: 2, notices: [{}] })
    expect(problems).toEqual([])
  })
})
