import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { createUser } from "./support/users.ts"

describe.skipIf(skipReason !== undefined)("a workspace", () => {
  const panel = usePanel()

  it("is shared by an invitation, and has an audit log", async () => {
    const { page, person, problems } = await panel.openAs()
    const grace = await createUser(panel.url(), "Grace Hopper", "Hers")
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/members`)
    await page.getByRole("button", { name: "Invite a member" }).click()
    await page.getByLabel("Email").fill(grace.email)
    await page.getByRole("button", { name: "Send invitation", exact: true }).click()
    const link = (await page.getByRole("region", { name: "link" }).textContent()) ?? ""
    const stranger = await panel.open()
    await stranger.page.goto(link)
    await stranger.page.getByText(/invites you to/).waitFor()
    await stranger.context.close()
    const hers = await panel.openAs(grace)
    await hers.page.goto(link)
    await hers.page.getByRole("button", { name: /accept|join/i }).click()
    await hers.page.waitForURL(`**/w/${person.workspaceId}**`)

    await page.reload()
    await page.getByLabel("Role of Grace Hopper").selectOption("viewer")
    await page.getByText("Grace Hopper now has the role viewer").waitFor()
    await hers.page.goto(`${w}/keys`)
    await hers.page
      .getByRole("alert")
      .getByText(/Request/)
      .waitFor()

    await page.getByRole("button", { name: "Remove Grace Hopper" }).click()
    await page.getByRole("button", { name: "Remove member", exact: true }).click()
    await page.getByText("was removed").waitFor()
    await page.goto(`${w}/audit`)
    await page.getByLabel("Kind of record").selectOption("member")
    await page.waitForURL(/subject_kind=member/)
    await page.getByRole("row", { name: /Member removed.*Ada Lovelace/ }).waitFor()
    await page.getByRole("row", { name: /Member role changed/ }).waitFor()
    await person.client.apiKeys.create({ name: "Deploys", scopes: ["tasks:read"] })
    await page.getByLabel("Kind of record").selectOption("api_key")
    await page.getByRole("row", { name: /API key created.*Deploys/ }).waitFor()
    await person.client.notifications.createChannel({
      name: "Operations",
      kind: "webhook",
      config: { url: `${panel.url()}/v1/echo` }
    })
    await page.reload()
    await page.getByLabel("Kind of record").selectOption("notification_channel")
    await page.getByRole("row", { name: /Notification channel created.*Operations/ }).waitFor()
    expect(problems).toEqual([])
  })

  it("is renamed, shows and rotates its secret, and is deleted by its name", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/settings`)
    await page.getByLabel("Name").fill("Acme staging")
    await page.getByRole("button", { name: "Rename workspace" }).click()
    await page.getByRole("button", { name: "Switch workspace" }).getByText("staging").waitFor()
    await page.getByLabel("URL of your server").fill("https://API.example.com:443/jobs?token=1")
    await page.getByRole("button", { name: "Show signing secrets" }).click()
    const shown = page.getByRole("region", { name: "secret for calls", exact: true })
    const url = "https://api.example.com"
    const { data } = await person.client.workspaces.getSigningSecrets({ url })
    await shown.getByText(data[0]?.call_secret ?? "none").waitFor()
    await page.getByText(url, { exact: true }).waitFor()
    await page.getByRole("button", { name: "Rotate all signing secrets" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Rotate secrets" }).click()
    const old = page.getByRole("region", { name: "old secret for calls" })
    await old.getByText(data[0]?.call_secret ?? "none").waitFor()
    await page.getByRole("button", { name: "Delete workspace" }).click()
    const last = page.getByRole("button", { name: "Delete permanently" })
    expect(await last.isDisabled()).toBe(true)
    await page.getByLabel(/to confirm/).fill("Acme staging")
    await last.click()
    await page.waitForURL(/welcome/)
  })

  it("has a ping key, with which jobs ping monitors by their keys", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/settings`)
    await page.getByRole("button", { name: "Show ping key" }).click()
    await page.getByText("This workspace has no ping key yet").waitFor()
    await page.getByRole("button", { name: "Create ping key" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Create ping key" }).click()
    const url = await page.getByRole("region", { name: "ping URL" }).textContent()
    expect((await fetch(url ?? "")).status).toBe(201)
    const { data } = await person.client.heartbeatMonitors.list({ key: "backup" })
    expect(data).toMatchObject([{ key: "backup", status: "up" }])
  })

  it("is stopped and resumed in its settings, and shows that on every page", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/settings`)
    await page.getByRole("button", { name: "Stop workspace" }).click()
    await page.getByRole("button", { name: "Stop all runs" }).click()
    const strip = page.getByRole("alert").getByText("No run starts until it is resumed")
    await strip.waitFor()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    await strip.waitFor()
    // Another user resumes the workspace and stops it again.
    await person.client.workspaces.resume()
    await strip.waitFor({ state: "detached" })
    await person.client.workspaces.stop()
    await strip.waitFor()
    await page.getByRole("link", { name: "Resume in the settings" }).click()
    await page.getByRole("button", { name: "Resume workspace" }).click()
    await page.getByRole("button", { name: "Resume runs" }).click()
    await strip.waitFor({ state: "detached" })
    expect((await person.client.workspaces.get(person.workspaceId)).stopped_at).toBeNull()
  })

  it("shows the result of a payment", async () => {
    const { page, person } = await panel.openAs()
    const back = (outcome: string) =>
      page.goto(`${panel.url()}/?checkout=${outcome}&workspace=${person.workspaceId}`)
    await back("cancelled")
    await page.getByRole("status").getByText("The plan was not changed").waitFor()
    await page.getByRole("button", { name: "Close" }).click()
    await page.waitForURL(`**/w/${person.workspaceId}/usage`)
    await page.getByText("The plan was not changed").waitFor({ state: "detached" })

    await back("done")
    await page.getByRole("status").getByText("is being confirmed").waitFor()
    // There is no payment provider, so the test adds a subscription to the real response.
    await page.route("**/billing", async (route) => {
      const answer = await route.fetch()
      const billing = await answer.json()
      const subscription = {
        status: "active",
        plan: "team",
        price: "price_team",
        next_price: null,
        current_period_end: "2099-01-31T00:00:00.000Z",
        cancel_at: null,
        plan_ends_at: null
      }
      const plan = { ...billing.plan, name: "Team" }
      await route.fulfill({ json: { ...billing, provider: "stripe", plan, subscription } })
    })
    await page.getByRole("status").getByText("Your plan is Team").waitFor()
    await page.getByText("Renews on").waitFor()
  })

  it("has workers, whose tokens are shown once", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/workers`)
    await page.getByText("No workers yet").waitFor()
    await page.getByRole("button", { name: "New worker" }).first().click()
    await page.getByLabel("Name").fill("Office")
    await page.getByLabel("Labels").fill("office, gpu")
    await page.getByRole("button", { name: "Create worker" }).click()
    const token = await page.getByRole("region", { name: "token", exact: true }).textContent()
    expect(token).toMatch(/^pwk_/)
    await page.getByRole("button", { name: "Actions for Office" }).click()
    await page.getByRole("menuitem", { name: "Pause" }).click()
    await page.getByRole("row", { name: /Paused.*Office/ }).waitFor()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/usage`)
    await page.getByText("Workers", { exact: true }).last().waitFor()
    await page.getByRole("listbox", { name: /^Executions per day, at most / }).waitFor()
  })
})
