import { describe, expect, it } from "vitest"
import { startMailServer } from "./support/startMailServer.ts"
import { skipReason, useOwnPanel } from "./support/panel.ts"
import { password, signIn, createUser } from "./support/users.ts"

const { environment, linkIn } = await startMailServer()

describe.skipIf(skipReason !== undefined)("the link of a mail", () => {
  const panel = useOwnPanel(environment)

  it("sets a new password, stays in no history, and works once", async () => {
    const { client, email } = await createUser(panel.url())
    const { page, problems } = await panel.open()
    await page.goto(`${panel.url()}/sign-in`)
    await page.getByRole("link", { name: "Forgot your password?" }).click()
    await page.getByRole("heading", { name: "Set a new password" }).waitFor()
    await page.getByLabel("Email").fill(email)
    await page.getByRole("button", { name: "Send link" }).click()
    await page.getByRole("status").getByText(email).waitFor()
    const link = await linkIn(email, "Set a new password")
    const setTo = async (text: string) => {
      await page.goto(link)
      await page.getByLabel("New password").fill(text)
      expect(new URL(page.url()).hash).toBe("")
      await page.getByRole("button", { name: "Set password" }).click()
    }
    await setTo("four other random words")
    await page.getByText("Your password was set.").waitFor()
    await page.getByLabel("Email").fill(email)
    await page.getByLabel("Password").fill("four other random words")
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.waitForURL(/\/w\//)
    await expect(client.auth.getMe()).rejects.toThrow("token")

    await page.goto("about:blank")
    await setTo("and four more random words")
    await page.getByRole("alert").getByText("was already used").waitFor()
    expect(problems).toEqual([])
  })

  it("makes a user a member after the sign-in", async () => {
    const owner = await createUser(panel.url(), "Ada Lovelace", "Analytical engines")
    const guest = await createUser(panel.url(), "Grace Hopper", "Hers")
    const { page } = await panel.openAs(owner)
    await page.goto(`${panel.url()}/w/${owner.workspaceId}/members`)
    await page.getByRole("button", { name: "Invite a member" }).click()
    await page.getByLabel("Email").fill(guest.email)
    await page.getByRole("button", { name: "Send invitation", exact: true }).click()
    await page.getByText(`An invitation was sent to ${guest.email}`).waitFor()

    const hers = await panel.open()
    await hers.page.goto(await linkIn(guest.email, "You are invited to a workspace"))
    await hers.page.getByLabel("Email").fill(guest.email)
    await hers.page.getByLabel("Password").fill(password)
    await hers.page.getByRole("button", { name: "Sign in" }).click()
    await hers.page.getByRole("button", { name: "Join workspace" }).click()
    await hers.page.waitForURL(`**/w/${owner.workspaceId}**`)
    await hers.page.getByText("You are a member of Analytical engines.").waitFor()
    expect(hers.problems).toEqual([])
  })

  it("makes a new user a member after the registration, and keeps what was typed", async () => {
    const owner = await createUser(panel.url())
    const email = `new-${owner.email}`
    await owner.client.invitations.create({ email, role: "viewer" })
    const { page } = await panel.open()
    const invitation = Promise.withResolvers<void>()
    await page.route("**/invitations/preview", async (route) => {
      await invitation.promise
      await route.continue()
    })
    await page.goto(await linkIn(email, "You are invited to a workspace"))
    await page.getByRole("link", { name: "Create an account" }).click()
    // Until the next page has loaded, the sign-in page is still shown, and its fields have the same
    // names.
    await page.getByRole("heading", { name: "Create an account" }).waitFor()
    await page.getByLabel("Password").fill(password)
    invitation.resolve()
    await page.getByText(`The invitation is for ${email}.`).waitFor()
    expect(await page.getByLabel("Email").inputValue()).toBe(email)
    expect(await page.getByLabel("Password").inputValue()).toBe(password)
    await page.getByRole("button", { name: "Create account" }).click()
    await page.getByRole("button", { name: "Join workspace" }).click()
    await page.waitForURL(`**/w/${owner.workspaceId}**`)
  })

  it("verifies an email, when its button is pressed", async () => {
    const person = await createUser(panel.url())
    const { page } = await panel.open()
    await page.goto(await linkIn(person.email, "Is this your email?"))
    await page.getByRole("button", { name: "Yes, it is mine" }).click()
    await page.getByText("Your email address is verified.").waitFor()
    await signIn(page, panel.url(), person)
    await page.goto(`${panel.url()}/account/settings`)
    await page.getByText("Verified.", { exact: true }).waitFor()
  })
})
