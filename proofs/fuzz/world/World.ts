import type { Dice } from "../Dice.ts"

/** An account that the attacker created. */
export interface Account {
  email: string
  password: string
  /** We never delete it or log it out, so its credentials must be accepted. */
  readonly isLasting: boolean
  readonly workspaces: Array<string>
}

export interface Credential {
  readonly token: string
  readonly account: Account
  readonly isLasting: boolean
  /** The credential of a session. */
  readonly refreshToken?: string
  /** The credential of an API key. */
  readonly key?: { readonly workspace: string; readonly scopes: ReadonlyArray<string> }
}

/** How many ids of a kind are remembered, and in how many collections. */
const memory = 48
const maxCollections = 2_000

/** What the attacker knows about the server, all of it learned from answers. */
export class World {
  readonly accounts: Array<Account> = []
  readonly sessions: Array<Credential> = []
  readonly keys: Array<Credential> = []
  /** Secrets that were shown once and must not appear again. */
  readonly shownOnce = new Set<string>()
  /** The ids of lasting credentials. No request may find them and revoke them. */
  readonly hidden = new Set<string>()
  /** Refused credentials, to be tried again. */
  readonly ended: Array<string> = []
  readonly #ids = new Map<string, Array<string>>()
  readonly #cursors = new Map<string, string>()
  readonly #credentials = new Map<string, Credential>()
  readonly #owners = new Map<string, Account>()

  addAccount(account: Account) {
    remember(this.accounts, account)
    for (const workspace of account.workspaces) this.addOwner(workspace, account)
  }

  addSession(session: Credential) {
    remember(this.sessions, session)
    this.#credentials.set(session.token, session)
  }

  addKey(key: Credential) {
    remember(this.keys, key)
    this.#credentials.set(key.token, key)
  }

  addOwner(workspace: string, account: Account) {
    this.#owners.set(workspace, account)
  }

  /** The principal that was given this token, ended or not. */
  credentialOf(token: string): Credential | undefined {
    return this.#credentials.get(token)
  }

  ownerOf(workspace: string): Account | undefined {
    return this.#owners.get(workspace)
  }

  /** The server refused it, so somebody ended it. */
  forget(credential: Credential) {
    for (const list of [this.sessions, this.keys]) {
      const at = list.indexOf(credential)
      if (at !== -1) list.splice(at, 1)
    }
    this.ended.push(credential.token)
    if (this.ended.length > memory) this.ended.shift()
  }

  forgetWorkspace(workspace: string) {
    for (const { workspaces } of this.accounts) {
      const at = workspaces.indexOf(workspace)
      if (at !== -1) workspaces.splice(at, 1)
    }
  }

  /** `collection` is the URL path that the id comes after. */
  addId(collection: string, id: string) {
    if (this.hidden.has(id)) return
    const known = this.#ids.get(collection) ?? []
    if (known.includes(id)) return
    known.push(id)
    if (known.length > memory) known.shift()
    this.#ids.set(collection, known)
    const [oldest] = this.#ids.size > maxCollections ? this.#ids.keys() : []
    if (oldest !== undefined) this.#ids.delete(oldest)
  }

  removeId(collection: string, id: string) {
    const known = this.#ids.get(collection) ?? []
    if (known.includes(id))
      this.#ids.set(
        collection,
        known.filter((one) => one !== id)
      )
  }

  idsIn(collection: string): ReadonlyArray<string> {
    return this.#ids.get(collection) ?? []
  }

  /** Ids of any kind, in any workspace. */
  pickAnyId(dice: Dice): string | undefined {
    return dice.pickLate(dice.pickLate([...this.#ids.values()]) ?? [])
  }

  addCursor(path: string, cursor: string) {
    this.#cursors.set(path, cursor)
  }

  cursor(path: string): string | undefined {
    return this.#cursors.get(path)
  }
}

/** Removes the oldest that may be removed. */
const remember = <A extends { readonly isLasting: boolean }>(list: Array<A>, one: A) => {
  list.push(one)
  if (list.length <= memory) return
  const at = list.findIndex(({ isLasting }) => !isLasting)
  if (at !== -1) list.splice(at, 1)
}
