import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("API keys", () => {
  const panel = usePanel()

  const use = (key: string) =>
    fetch(`${panel.url()}/v1/whoami`, { headers: { authorization: `Bearer ${key}` } })

  it("are created, shown once, used, rotated, revoked and rejected", async () => {
    const { context, page, person, problems } = await panel.openAs()
    await context.grantPermissions(["clipboard-read", "clipboard-write"])
    await page.goto(`${panel.url()}/w/${person.workspaceId}/keys`)
    await page.getByText("No API keys yet").waitFor()
    await page.getByRole("link", { name: "New API key" }).first().click()
    await page.getByLabel("Name").fill("CI deploys")
    await page.getByRole("button", { name: "Create API key" }).click()
    await page.getByText("Choose at least one scope.").waitFor()
    await page.getByRole("button", { name: "Deploy tasks" }).click()
    await page.getByRole("button", { name: "Create API key" }).click()
    const shown = page.getByRole("region", { name: "key", exact: true })
    const key = (await shown.textContent()) ?? ""
    expect(key).toMatch(/^pak_[\w-]+/)
    expect(await page.getByRole("region", { name: "Use the key: curl" }).textContent()).toContain(
      `Bearer ${key}`
    )
    expect((await use(key)).status).toBe(200)

    await page.getByRole("link", { name: "Queues" }).click()
    await page.getByText("You have not copied the key. It cannot be shown again.").waitFor()
    await page.getByRole("button", { name: "Not now" }).click()
    await page.getByRole("link", { name: "I have saved it" }).click()
    await page.getByRole("row", { name: "tasks:write never used" }).waitFor()
    expect(await page.content()).not.toContain(key)

    await page.getByRole("button", { name: "Actions for CI deploys" }).click()
    await page.getByRole("menuitem", { name: "Rotate" }).click()
    await page.getByRole("button", { name: "Rotate key", exact: true }).click()
    const rotated = (await shown.textContent()) ?? ""
    expect(rotated).toMatch(/^pak_[\w-]+/)
    expect((await use(key)).status).toBe(200)
    expect((await use(rotated)).status).toBe(200)
    await page
      .getByText(`Replaces ${key.slice(0, 8)}`)
      .filter({ hasText: "which works until" })
      .waitFor()
    await page.getByRole("button", { name: "Copy key" }).click()
    await page.getByRole("button", { name: "Copied" }).waitFor()
    await page.getByRole("link", { name: key.slice(0, 8) }).click()
    await shown.waitFor({ state: "detached" })

    await page.getByRole("button", { name: "Actions for CI deploys" }).click()
    await page.getByRole("menuitem", { name: "Revoke" }).click()
    await page.getByText(/will be rejected/).waitFor()
    await page.getByRole("button", { name: "Revoke key", exact: true }).click()
    await page.getByText("CI deploys was revoked").waitFor()
    expect((await use(key)).status).toBe(401)
    expect((await use(rotated)).status).toBe(200)
    expect(problems).toEqual([])
  })

  it("show a rejection at its field", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/keys/new?scopes=tasks:read`)
    await page.getByLabel("Name").fill("Office")
    await page.getByLabel("Allowed addresses").fill("not an address")
    await page.getByRole("button", { name: "Create API key" }).click()
    await page.getByText(/an IP address, or a network/).waitFor()
  })

  it("ask again before a second key is lost that has not been copied", async () => {
    const { context, page, person } = await panel.openAs()
    await context.grantPermissions(["clipboard-read", "clipboard-write"])
    for (const name of ["One", "Two"]) {
      await person.client.apiKeys.create({ name, scopes: ["tasks:read"] })
    }
    await page.goto(`${panel.url()}/w/${person.workspaceId}/keys`)
    const shown = page.getByRole("region", { name: "key", exact: true })
    const rotate = async (name: string) => {
      await page.getByRole("button", { name: `Actions for ${name}` }).click()
      await page.getByRole("menuitem", { name: "Rotate" }).click()
      await page.getByRole("button", { name: "Rotate key", exact: true }).click()
    }
    await rotate("One")
    const first = await shown.textContent()
    await page.getByRole("button", { name: "Copy key" }).click()
    await page.getByRole("button", { name: "Copied" }).waitFor()
    await rotate("Two")
    await expect.poll(() => shown.textContent()).not.toBe(first)
    await page.getByRole("navigation").getByRole("link", { name: "Queues" }).click()
    await page.getByText("You have not copied the key. It cannot be shown again.").waitFor()
  })
})
