import { describe, expect, it } from "vitest"
import { holdRequests } from "./support/hold.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import { password } from "./support/users.ts"
import { totpCode } from "./support/totpCode.ts"

describe.skipIf(skipReason !== undefined)("an account", () => {
  const panel = usePanel()

  it("gets a new name and password, and ends its other sessions", async () => {
    const { page, person, problems } = await panel.openAs()
    const other = await panel.openAs(person)
    await other.page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await other.page.getByRole("heading", { name: "Overview" }).waitFor()
    await page.goto(`${panel.url()}/account/settings`)
    await page.getByLabel("Name").fill("Countess")
    await page.getByRole("button", { name: "Save name" }).click()
    await page.getByText("Your name was changed").waitFor()
    await page.getByRole("button", { name: "Your account" }).getByText("Countess").waitFor()

    const sessions = page.getByRole("table", { name: "Sessions" })
    await sessions.getByText("current").waitFor()
    const before = await sessions.getByRole("button", { name: "End session" }).count()
    expect(before).toBeGreaterThan(0)
    await sessions.getByRole("button", { name: "End session" }).first().click()
    await page.getByText("The session was ended").waitFor()

    await page.getByLabel("Current password").fill(password)
    await page.getByLabel("New password").fill("four other random words")
    await page.getByRole("button", { name: "Change password" }).click()
    await page.getByText("Your password was changed").waitFor()
    await sessions
      .getByRole("button", { name: "End session" })
      .first()
      .waitFor({ state: "detached" })
    await page.reload()
    await page.getByRole("heading", { name: "Your account", exact: true }).waitFor()
    await other.page.reload()
    await other.page.getByRole("heading", { name: "Sign in" }).waitFor()
    expect(problems).toEqual([])
  })

  it("sets up a second factor and needs it to sign in", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/account/settings`)
    await page.getByRole("button", { name: "Set up second factor" }).click()
    await page.getByLabel("Your password").fill(password)
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("img", { name: "QR code for the authenticator app" }).waitFor()
    const secret = (await page.getByRole("region", { name: "secret" }).textContent()) ?? ""
    await page.getByLabel("Code from the app").fill(totpCode(secret))
    await page.getByRole("button", { name: "Confirm code" }).click()
    const codes = await page.getByRole("region", { name: "recovery codes" }).textContent()
    expect(codes?.split("\n")).toHaveLength(10)
    await page.getByRole("button", { name: "I have saved the codes" }).click()
    await page.getByText("Recovery codes left: 10").waitFor()

    const signInWith = async (...tried: ReadonlyArray<string>) => {
      const { page: next } = await panel.open()
      await next.goto(`${panel.url()}/sign-in`)
      await next.getByLabel("Email").fill(person.email)
      await next.getByLabel("Password").fill(password)
      await next.getByRole("button", { name: "Sign in" }).click()
      for (const [index, code] of tried.entries()) {
        await next.getByRole("heading", { name: "Enter your code" }).waitFor()
        await next.getByLabel("Code").fill(code)
        await next.getByRole("button", { name: "Confirm code" }).click()
        if (index < tried.length - 1) await next.getByRole("alert").waitFor()
      }
      await next.waitForURL(/\/w\//)
    }
    // The code used during setup cannot be reused.
    await signInWith("000000", totpCode(secret, 1))
    await signInWith(codes?.split("\n")[0] ?? "")
  })

  it("shows a wrong password at its field and focuses it", async () => {
    const { page } = await panel.openAs()
    await page.goto(`${panel.url()}/account/settings`)
    await page.getByRole("button", { name: "Set up second factor" }).click()
    const field = page.getByLabel("Your password")
    await field.fill("not the password")
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByText("The password is wrong.").waitFor()
    await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true)
  })

  it("is deleted with its password", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/account/settings`)
    await page.getByRole("button", { name: "Delete account" }).click()
    await page.getByRole("dialog").getByLabel("Your password").fill(password)
    await page.getByRole("button", { name: "Delete permanently" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await page.getByLabel("Email").fill(person.email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByText("The email or the password is wrong.").waitFor()
  })

  it("requests a link once if its button is pressed twice", async () => {
    const { page } = await panel.openAs()
    await page.goto(`${panel.url()}/account/settings`)
    const mail = await holdRequests(page, "**/email/resend", "POST")
    const button = page.getByRole("button", { name: "Send the link again" })
    await button.click()
    await mail.isHeld
    await page.getByRole("button", { name: "Send the link again", disabled: true }).waitFor()
    mail.release()
  })
})
