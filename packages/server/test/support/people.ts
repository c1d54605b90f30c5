import { randomBytes } from "node:crypto"

export interface Member {
  readonly email: string
  readonly user_id: string
  readonly workspace: string
  readonly workspace_id: string
  readonly access_token: string
  readonly refresh_token: string
}

export const password = "correct horse battery staple"

export const randomEmail = () => `${randomBytes(8).toString("hex")}@example.com`

/** Returns a new client address for each test, so that tests do not share a throttle. */
export const randomIp = () => `100.${[...randomBytes(3)].join(".")}`
