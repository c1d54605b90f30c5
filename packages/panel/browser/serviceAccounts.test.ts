import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("service accounts", () => {
  const panel = usePanel()

  it("are created, shown once, used, rotated, changed and deleted", async () => {
    const { context, page, person, problems } = await panel.openAs()
    await context.grantPermissions(["clipboard-read", "clipboard-write"])
    const list = `${panel.url()}/v1/workspaces/${person.workspaceId}/service-accounts`
    const tokenFor = async (client_secret: string) => {
      const [account] = (await person.client.serviceAccounts.list()).data
      const form = { grant_type: "client_credentials", client_id: account?.id ?? "", client_secret }
      return fetch(`${panel.url()}/v1/auth/token`, {
        method: "POST",
        body: new URLSearchParams(form)
      })
    }
    await page.goto(`${panel.url()}/w/${person.workspaceId}/members`)
    await page.getByRole("button", { name: "New service account" }).click()
    await page.getByLabel("Name").fill("Terraform")
    await page.getByRole("button", { name: "Create service account" }).click()
    const shown = page.getByRole("region", { name: "client secret", exact: true })
    const secret = (await shown.textContent()) ?? ""
    expect(secret).toMatch(/^psk_[\w-]+$/)
    const token = await tokenFor(secret)
    expect(token.status).toBe(200)
    const { access_token } = await token.json()
    const use = () => fetch(list, { headers: { authorization: `Bearer ${access_token}` } })
    expect((await use()).status).toBe(200)

    await page.getByRole("button", { name: "Actions for Terraform" }).click()
    await page.getByRole("menuitem", { name: "Rotate secret" }).click()
    await page.getByLabel("Keep the old secret working for").selectOption("0")
    await page.getByRole("button", { name: "Rotate secret", exact: true }).click()
    await expect.poll(() => shown.textContent()).not.toBe(secret)
    expect((await tokenFor(secret)).status).toBe(401)
    expect((await use()).status).toBe(401)
    expect((await tokenFor((await shown.textContent()) ?? "")).status).toBe(200)

    await page.getByRole("button", { name: "Actions for Terraform" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Role", { exact: true }).selectOption("viewer")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("row", { name: /Terraform.*Viewer/ }).waitFor()

    await page.getByRole("button", { name: "Actions for Terraform" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("Terraform was deleted").waitFor()
    await page.getByRole("row", { name: /Terraform/ }).waitFor({ state: "detached" })
    expect((await person.client.serviceAccounts.list()).data).toEqual([])
    expect(problems).toEqual([])
  })
})
