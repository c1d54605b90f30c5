import type { BrowserContext, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { skipReason, useOwnPanel } from "./support/panel.ts"
import { password, signOut } from "./support/users.ts"
import { totpCode } from "./support/totpCode.ts"

/** Gives the browser its own authenticator, as if it ran on a separate device. */
const addAuthenticator = async (context: BrowserContext, page: Page) => {
  const devtools = await context.newCDPSession(page)
  await devtools.send("WebAuthn.enable")
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  return { devtools, authenticatorId }
}

type Device = Awaited<ReturnType<typeof addAuthenticator>>

/** Returns the device's only passkey, with its private key. */
const passkeyOn = async ({ authenticatorId, devtools }: Device) => {
  const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId })
  expect(credentials).toHaveLength(1)
  return credentials[0]!
}

const addPasskey = async (page: Page, url: string, name: string) => {
  await page.goto(`${url}/account/settings`)
  await page.getByRole("button", { name: "Add passkey" }).click()
  await page.getByLabel("Name", { exact: true }).last().fill(name)
  await page.getByLabel("Your password").fill(password)
  await page.getByRole("button", { name: "Add passkey" }).click()
  await page.getByRole("list", { name: "Passkeys" }).getByText(name).waitFor()
}

/** Opens the start page, which redirects to a workspace, and signs out there. */
const leave = async (page: Page, url: string) => {
  await page.goto(url)
  // The redirect would close an open menu.
  await page.waitForURL(/\/w\//)
  await signOut(page)
}

const usePasskey = async (page: Page, url: string) => {
  await page.goto(`${url}/sign-in`)
  await page.getByRole("button", { name: "Use a passkey" }).click()
}

describe.skipIf(skipReason !== undefined)("passkeys", () => {
  const panel = useOwnPanel({}, "localhost")

  it("sign in on two devices, until they are removed", async () => {
    const url = panel.url()
    const { context, page, person, problems } = await panel.openAs()
    await addAuthenticator(context, page)
    await addPasskey(page, url, "Laptop")
    await leave(page, url)
    await usePasskey(page, url)
    await page.waitForURL(/\/w\//)

    const other = await panel.openAs(person)
    await addAuthenticator(other.context, other.page)
    await addPasskey(other.page, url, "Phone")
    await leave(other.page, url)
    await usePasskey(other.page, url)
    await other.page.waitForURL(/\/w\//)

    await page.goto(`${url}/account/settings`)
    const phone = page.getByRole("listitem").filter({ hasText: "Phone" })
    await phone.getByRole("button", { name: "Rename" }).click()
    await page.getByLabel("Name of the passkey").fill("Old phone")
    await page.getByRole("button", { name: "Rename passkey" }).click()
    const old = page.getByRole("listitem").filter({ hasText: "Old phone" })
    await old.getByRole("button", { name: "Remove" }).click()
    await page.getByLabel("Your password").fill(password)
    await page.getByRole("button", { name: "Remove passkey" }).click()
    await page.getByText("The passkey was removed").waitFor()
    await leave(other.page, url)
    await usePasskey(other.page, url)
    await other.page.getByText("This passkey is unknown or was removed").waitFor()
    // The first device still has its passkey.
    await leave(page, url)
    await usePasskey(page, url)
    await page.waitForURL(/\/w\//)
    await page.goto(`${url}/account/settings`)
    await page.getByText("with a passkey", { exact: false }).first().waitFor()
    expect(problems).toEqual([])
  })

  it("replace the code after the password", async () => {
    const url = panel.url()
    const { context, page, person, problems } = await panel.openAs()
    await addAuthenticator(context, page)
    await addPasskey(page, url, "Laptop")
    await page.getByRole("button", { name: "Set up second factor" }).click()
    await page.getByLabel("Your password").fill(password)
    await page.getByRole("button", { name: "Continue" }).click()
    const secret = (await page.getByRole("region", { name: "secret" }).textContent()) ?? ""
    await page.getByLabel("Code from the app").fill(totpCode(secret))
    await page.getByRole("button", { name: "Confirm code" }).click()
    const codes = await page.getByRole("region", { name: "recovery codes" }).textContent()
    await page.getByRole("button", { name: "I have saved the codes" }).click()

    const enterPassword = async () => {
      await leave(page, url)
      await page.getByLabel("Email").fill(person.email)
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("heading", { name: "Enter your code" }).waitFor()
    }
    await enterPassword()
    await page.getByRole("button", { name: "Use a passkey" }).click()
    await page.waitForURL(/\/w\//)
    // A recovery code still works without the device.
    await enterPassword()
    await page.getByLabel("Code").fill(codes?.split("\n")[0] ?? "")
    await page.getByRole("button", { name: "Confirm code" }).click()
    await page.waitForURL(/\/w\//)
    expect(problems).toEqual([])
  })

  it("are refused when they were copied from their device", async () => {
    const url = panel.url()
    const { context, page } = await panel.openAs()
    const device = await addAuthenticator(context, page)
    await addPasskey(page, url, "Security key")
    const copy = await passkeyOn(device)
    await leave(page, url)
    await usePasskey(page, url)
    await page.waitForURL(/\/w\//)

    const thief = await panel.open()
    await thief.page.goto(url)
    const clone = await addAuthenticator(thief.context, thief.page)
    await clone.devtools.send("WebAuthn.addCredential", {
      authenticatorId: clone.authenticatorId,
      credential: copy
    })
    await usePasskey(thief.page, url)
    await thief.page.getByText("This passkey is unknown or was removed").waitFor()
  })
})
