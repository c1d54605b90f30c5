import { SchedulingClient } from "@scheduling/sdk"
import type { BrowserContext, Page } from "playwright-core"
import { randomBytes } from "node:crypto"

export const password = "correct horse battery staple"

export interface PanelUser {
  readonly email: string
  readonly workspaceId: string
  /** An SDK client signed in as this person. */
  readonly client: SchedulingClient
}

/** Creates an account with one workspace. */
export const createUser = async (
  baseUrl: string,
  name = "Ada Lovelace",
  workspace = "Acme production"
): Promise<PanelUser> => {
  const email = `ada-${randomBytes(4).toString("hex")}@example.com`
  const address = `100.${[...randomBytes(3)].join(".")}`
  const defaultHeaders = { "x-forwarded-for": address }
  const client = await SchedulingClient.register({ baseUrl, email, password, name, defaultHeaders })
  const workspaceId = await client.getWorkspaceId()
  await client.workspaces.update(workspaceId, { name: workspace })
  return { email, workspaceId, client }
}

/** Signs in using the form. */
export const signIn = async (page: Page, baseUrl: string, { email }: Pick<PanelUser, "email">) => {
  await page.goto(`${baseUrl}/sign-in`)
  await page.getByLabel("Email").fill(email)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.waitForURL(/\/w\//)
}

/** Signs in without opening a page, which would take a second of CPU time. */
export const startSession = async (
  { request }: BrowserContext,
  baseUrl: string,
  { email }: Pick<PanelUser, "email">
) => {
  const response = await request.post(`${baseUrl}/panel/session`, {
    headers: { origin: baseUrl, "x-panel": "1" },
    data: { email, password }
  })
  if (!response.ok()) throw new Error(`the sign-in failed: ${await response.text()}`)
}

/** Signs out using the account menu. The page must have reached its final URL. */
export const signOut = async (page: Page) => {
  await page.getByRole("button", { name: "Your account" }).click()
  await page.getByRole("menuitem", { name: "Sign out" }).click()
  await page.getByRole("heading", { name: "Sign in" }).waitFor()
}
