import { afterAll, describe, expect, it } from "vitest"
import {
  clientId,
  clientSecret,
  startProvider
} from "@scheduling/server/test/accounts/oidc/startProvider"
import { skipReason, useOwnPanel } from "./support/panel.ts"
import { signOut, createUser } from "./support/users.ts"

describe.skipIf(skipReason !== undefined)("an identity provider", () => {
  const panel = useOwnPanel()
  let stop = () => {}
  afterAll(() => stop())

  const timeout = 240_000

  it("signs in by a claim to a workspace, until signing out", { timeout }, async () => {
    const { workspaceId } = await createUser(panel.url(), "Ada Lovelace", "Operations")
    const provider = await startProvider(panel.url())
    stop = provider.stop
    await panel.service().stop()
    await panel.service().start({
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_NAME: "Keycloak",
      OIDC_SCOPES: "openid email profile offline_access",
      OIDC_ROLE_CLAIM: "groups",
      OIDC_ROLES: `/operators=${workspaceId}:viewer`
    })
    provider.people.set("grace", {
      email: "grace@example.com",
      email_verified: true,
      name: "Grace Hopper",
      groups: ["/operators"]
    })

    const { page, problems } = await panel.open()
    // Simulates the form in which a person signs in at the identity provider.
    await page.route(`${provider.issuer}/**`, (route) =>
      route.continue({ headers: { ...route.request().headers(), "x-person": "grace" } })
    )
    const atProvider = page.getByRole("button", { name: "Continue with Keycloak" })
    const signIn = async () => {
      await page.goto(`${panel.url()}/sign-in`)
      await atProvider.click()
    }
    await signIn()
    await page.waitForURL(`**/w/${workspaceId}**`)
    await page.goto(`${panel.url()}/w/${workspaceId}/members`)
    await page.getByRole("row").filter({ hasText: "Grace Hopper" }).getByText("viewer").waitFor()

    await page.goto(`${panel.url()}/account/settings`)
    await page.getByText("Your account has no password.").waitFor()
    await page.getByRole("button", { name: "Delete account" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Sign in again" }).click()
    await atProvider.click()
    await page.waitForURL("**/account/settings")
    await page.getByText("Your account has no password.").waitFor()
    await signOut(page)
    await page.goto(`${panel.url()}/w/${workspaceId}`)
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await expect.poll(() => provider.requests).toContain("POST /token/revocation")

    // Without membership of the group, the same person has no access to the workspace.
    provider.people.set("grace", { email: "grace@example.com", email_verified: true })
    await signIn()
    await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"))
    await page.goto(`${panel.url()}/w/${workspaceId}`)
    await page.getByRole("heading", { name: "Not found" }).waitFor()

    // The account has no password, so a recent sign-in is enough to delete it.
    await page.goto(`${panel.url()}/account/settings`)
    await page.getByRole("button", { name: "Delete account" }).click()
    await page.getByRole("button", { name: "Delete permanently" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    expect(problems).toEqual([])
  })
})
