import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { createUser } from "./support/users.ts"

describe.skipIf(skipReason !== undefined)("a member", () => {
  const panel = usePanel()

  it("sees the actions of their role, and the role that other actions need", async () => {
    const owner = await createUser(panel.url())
    const guest = await createUser(panel.url(), "Grace Hopper", "Hers")
    const { token } = await owner.client.invitations.create({ email: guest.email, role: "viewer" })
    await guest.client.invitations.accept({ token: token ?? "" })
    await owner.client.cron.create({
      name: "Export",
      schedule: "0 5 * * *",
      url: `${panel.url()}/v1/echo`
    })
    const { page, problems } = await panel.openAs(guest)
    const w = `${panel.url()}/w/${owner.workspaceId}`
    const menu = page.getByRole("navigation", { name: "Workspace" })

    await page.goto(`${w}/cron`)
    await page.getByRole("link", { name: "Export" }).waitFor()
    await menu.getByRole("link", { name: "API keys" }).waitFor({ state: "detached" })
    expect(await page.getByRole("link", { name: "New cron task" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: "Actions for Export" }).count()).toBe(0)
    await page.goto(`${w}/monitors/heartbeat/new`)
    await page.getByText("You need the role editor or a higher role to do this.").waitFor()
    expect(await page.getByRole("button", { name: "Create heartbeat monitor" }).isDisabled()).toBe(
      true
    )
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search" }).fill("new")
    await page.getByRole("option", { name: /New workspace/ }).waitFor()
    expect(await page.getByRole("option", { name: /New cron task/ }).count()).toBe(0)

    const { id } = await guest.client.auth.getMe()
    await owner.client.members.update(id, { role: "editor" })
    await page.goto(`${w}/cron`)
    await page.getByRole("link", { name: "New cron task" }).waitFor()
    await page.getByRole("button", { name: "Actions for Export" }).waitFor()
    await menu.getByRole("link", { name: "API keys" }).waitFor({ state: "detached" })
    const refused: Array<string> = []
    page.on("response", (answer) => {
      if (answer.status() === 403) refused.push(answer.url())
    })
    await page.goto(`${w}/members`)
    await page.getByRole("row", { name: /Grace Hopper/ }).waitFor()
    await page.getByRole("button", { name: "Invite a member" }).waitFor({ state: "detached" })
    expect(refused).toEqual([])
    await owner.client.members.update(id, { role: "admin" })
    await page.goto(`${w}/members`)
    await page.getByRole("button", { name: "Invite a member" }).waitFor()
    await menu.getByRole("link", { name: "API keys" }).waitFor()
    expect(problems).toEqual([])
  })
})
