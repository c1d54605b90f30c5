import type { BrowserContext, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { missing, useOwnPanel } from "./support/panel.ts"
import { password } from "./support/people.ts"

/** Gives the browser an authenticator of its own, as another device has. */
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

/** Returns the only passkey on the device, with its private key. */
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

const signOut = async (page: Page, url: string) => {
  await page.goto(url)
  await page.getByRole("button", { name: "Your account" }).click()
  await page.getByRole("menuitem", { name: "Sign out" }).click()
  await page.getByRole("heading", { name: "Sign in" }).waitFor()
}

const usePasskey = async (page: Page, url: string) => {
  await page.goto(`${url}/sign-in`)
  await page.getByRole("button", { name: "Use a passkey" }).click()
}

describe.skipIf(missing !== undefined)("passkeys", () => {
  const panel = useOwnPanel({}, "localhost")

  it("sign in on two devices, until they are removed", async () => {
    const url = panel.url()
    const { context, page, person, problems } = await panel.openAs()
    await addAuthenticator(context, page)
    await addPasskey(page, url, "Laptop")
    await signOut(page, url)
    await usePasskey(page, url)
    await page.waitForURL(/\/w\//)

    const other = await panel.openAs(person)
    await addAuthenticator(other.context, other.page)
    await addPasskey(other.page, url, "Phone")
    await signOut(other.page, url)
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
    await signOut(other.page, url)
    await usePasskey(other.page, url)
    await other.page.getByText("This passkey is unknown here").waitFor()
    // The first device still has its passkey.
    await signOut(page, url)
    await usePasskey(page, url)
    await page.waitForURL(/\/w\//)
    await page.goto(`${url}/account/settings`)
    await page.getByText("with a passkey", { exact: false }).first().waitFor()
    expect(problems).toEqual([])
  })

  it("are refused when they were copied from their device", async () => {
    const url = panel.url()
    const { context, page } = await panel.openAs()
    const device = await addAuthenticator(context, page)
    await addPasskey(page, url, "Security key")
    const copy = await passkeyOn(device)
    await signOut(page, url)
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
    await thief.page.getByText("This passkey is unknown here").waitFor()
  })
})
