import { SchedulingClient } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { password, createUser } from "./support/users.ts"
import { startReceiver } from "./support/startReceiver.ts"
import { runShell, runTypeScript } from "./support/shell.ts"

describe.skipIf(skipReason !== undefined)("a secret", () => {
  const panel = usePanel()

  it("is created in the form of a task, authenticates its calls, and is kept while it is used", async () => {
    const { page, person, problems } = await panel.openAs()
    const { answer, url } = await startReceiver()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/cron/new`)
    await page.getByLabel("Name", { exact: true }).fill("Nightly")
    await page.getByLabel("URL", { exact: true }).fill(`${url}?run=`)
    await page.getByRole("button", { name: "Insert value into URL" }).click()
    await page.getByRole("menuitem", { name: "run.id" }).click()
    await page.getByRole("textbox", { name: "Schedule" }).fill("0 3 * * *")
    await page.getByLabel("Authentication").selectOption("bearer")
    await page.getByRole("button", { name: "New secret…" }).click()
    const dialog = page.getByRole("dialog", { name: "New secret" })
    await dialog.getByLabel("Name").fill("api-token")
    await dialog.getByLabel("Allowed hosts").fill(new URL(url).origin)
    await dialog.getByLabel("Value").fill("3f9c")
    await dialog.getByRole("button", { name: "Create secret" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(await page.getByLabel("Token", { exact: true }).inputValue()).toBe("API_TOKEN")
    await page.getByRole("button", { name: "Add a header" }).click()
    await page.getByLabel("Name of header 1").fill("x-token")
    await page.getByLabel("Value of header 1", { exact: true }).fill("Token ")
    await page.getByRole("button", { name: "Insert value into header 1" }).click()
    await page.getByRole("menuitem", { name: "secrets.API_TOKEN" }).click()
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByText("Bearer, with the secret API_TOKEN").waitFor()
    const [task] = (await person.client.cron.list({ limit: 1 })).data
    const { id } = await person.client.cron.runAndWait(task!.id)
    expect(answer.calls).toMatchObject([{ authorization: "Bearer 3f9c", "x-token": "Token 3f9c" }])
    expect(answer.urls).toEqual([`/alerts?run=${id}`])

    await page.getByRole("link", { name: "Secrets", exact: true }).click()
    await page.getByRole("row", { name: /API_TOKEN.*Nightly/ }).waitFor()
    const menu = page.getByRole("button", { name: "Actions for API_TOKEN" })
    await menu.click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText('The cron task "Nightly" uses this secret. Change it first.').waitFor()
    await page.getByRole("dialog").getByRole("link", { name: "Nightly" }).click()
    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByLabel("Authentication").selectOption("")
    await page.getByRole("button", { name: "Remove header 1" }).click()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("heading", { name: "Nightly", exact: true }).waitFor()
    await page.goto(`${w}/secrets`)
    await menu.click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("No secrets yet").waitFor()
    let ACCESS_TOKEN = ""
    await SchedulingClient.login({
      baseUrl: panel.url(),
      email: person.email,
      password,
      onTokens: (tokens) => {
        ACCESS_TOKEN = tokens?.access_token ?? ""
      }
    })
    const curl = page.getByRole("region", { name: "Create a secret: curl" })
    const commands = (await curl.textContent()) ?? ""
    await page.getByRole("tab", { name: "TypeScript" }).click()
    const program = page.getByRole("region", { name: "Create a secret: TypeScript" })
    const text = (await program.textContent()) ?? ""
    const created = await runShell(commands, { ACCESS_TOKEN })
    expect(JSON.parse(created)).toMatchObject({
      name: "API_TOKEN",
      allowed_hosts: ["api.example.com"]
    })
    await person.client.secrets.delete("API_TOKEN")
    const environment = { EMAIL: person.email, PASSWORD: password }
    await runTypeScript(text, environment)
    expect((await person.client.secrets.list()).data).toMatchObject([{ name: "API_TOKEN" }])
    expect(problems).toEqual([])
  })

  it("is chosen for a field of a channel", async () => {
    const { page, person, problems } = await panel.openAs()
    const { answer, url } = await startReceiver()
    await person.client.secrets.upsert("PATH_TOKEN", {
      value: "8c1f",
      allowed_hosts: [new URL(url).origin]
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications/channels/new`)
    await page.getByRole("link", { name: "Webhook" }).click()
    await page.getByLabel("Name").fill("Operations")
    await page.getByLabel("URL", { exact: true }).fill(`${url}/`)
    await page.getByRole("button", { name: "Insert value into URL" }).click()
    await page.getByRole("menuitem", { name: "secrets.PATH_TOKEN" }).click()
    await page.getByRole("button", { name: "Create channel" }).click()
    await page.getByRole("button", { name: "Send test message" }).click()
    await page.getByRole("status").getByText("Delivered").waitFor()
    expect(answer.urls.at(-1)).toMatch(/\/8c1f$/)
    expect(problems).toEqual([])
  })

  it("requires its value again for a new host, and never replaces another secret", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    await client.secrets.upsert("TOKEN", { value: "old", allowed_hosts: ["api.example.com"] })
    await page.goto(`${panel.url()}/w/${workspaceId}/secrets`)
    await page.getByRole("button", { name: "Actions for TOKEN" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    const value = page.getByLabel("New value")
    await page.getByText("Leave empty to keep the current value.").waitFor()
    await page.getByLabel("Allowed hosts").fill("api.example.com, *.example.org")
    await page.getByText("Enter the value for *.example.org").waitFor()
    await page.getByRole("button", { name: "Save changes" }).click()
    expect(await value.evaluate((input: HTMLTextAreaElement) => input.validity.valueMissing)).toBe(
      true
    )
    await value.fill("new")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("TOKEN was changed").waitFor()
    await page.getByRole("button", { name: "New secret" }).click()
    await page.getByLabel("Name").fill("token")
    await page.getByLabel("Allowed hosts").fill("evil.example.com")
    await page.getByLabel("Value").fill("x")
    await page.getByRole("button", { name: "Create secret" }).click()
    await page.getByText("A secret with the name TOKEN already exists.").waitFor()
    await page.getByLabel("Name").fill("other")
    await page.getByLabel("Allowed hosts").fill("not a host!")
    await page.getByRole("button", { name: "Create secret" }).click()
    await page.getByText("must be a host such as api.example.com").first().waitFor()
    expect((await client.secrets.list()).data).toMatchObject([
      { name: "TOKEN", allowed_hosts: ["api.example.com", "*.example.org"] }
    ])
    expect(problems).toEqual([])
  })

  it("is hidden from viewers, who have no page and send no request for it", async () => {
    const owner = await createUser(panel.url())
    const guest = await createUser(panel.url(), "Grace Hopper", "Hers")
    const { token } = await owner.client.invitations.create({ email: guest.email, role: "viewer" })
    await guest.client.invitations.accept({ token: token ?? "" })
    const { page } = await panel.openAs(guest)
    const requested: Array<string> = []
    page.on("request", (request) => requested.push(request.url()))
    await page.goto(`${panel.url()}/w/${owner.workspaceId}/cron/new`)
    const menu = page.getByRole("navigation", { name: "Workspace" })
    await menu.getByRole("link", { name: "Queues" }).waitFor()
    await menu.getByRole("link", { name: "Secrets" }).waitFor({ state: "detached" })
    await page.getByLabel("Authentication").selectOption("bearer")
    await page.getByRole("button", { name: "Insert value into URL" }).click()
    await page.getByRole("menuitem", { name: "run.id" }).waitFor()
    expect(requested.filter((url) => url.includes("/secrets"))).toEqual([])
  })
})
