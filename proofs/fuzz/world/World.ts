import type { Dice } from "../Dice.ts"

export interface Account {
  email: string
  password: string
  /**
   * True if the attacker never deletes the account or logs out, so that the account's credentials
   * stay valid.
   */
  readonly isLasting: boolean
  readonly workspaces: Array<string>
}

export interface Credential {
  readonly token: string
  readonly account: Account
  readonly isLasting: boolean
  /** Set if the credential is a session. */
  readonly refreshToken?: string
  /** Set if the credential is an API key. */
  readonly key?: { readonly workspace: string; readonly scopes: ReadonlyArray<string> }
}

/** The maximum number of ids to remember per kind, and the maximum number of collections. */
const memory = 48
const maxCollections = 2_000

/** Returns the collection of a workspace's executions that are waiting for approval. */
export const approvalsPathOf = (workspace: string) => `/v1/workspaces/${workspace}/approvals`

/** What the attacker knows about the server, learned from responses. */
export class World {
  readonly accounts: Array<Account> = []
  readonly sessions: Array<Credential> = []
  readonly keys: Array<Credential> = []
  /** Secrets that the API returns only once. None may appear again. */
  readonly shownOnce = new Set<string>()
  /**
   * Lasting credentials' ids. They are kept out of requests, because a request with such an id
   * could revoke the credential.
   */
  readonly hidden = new Set<string>()
  /** Revoked credentials, which later requests try to use again. */
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

  /** Returns the credential with this token, valid or revoked. */
  credentialOf(token: string): Credential | undefined {
    return this.#credentials.get(token)
  }

  ownerOf(workspace: string): Account | undefined {
    return this.#owners.get(workspace)
  }

  /** Forgets a credential that the server rejected. */
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

  /** Remembers an id. `collection` is the URL path before the id. */
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

  /** Picks an id of any kind, in any workspace. */
  pickAnyId(dice: Dice): string | undefined {
    return dice.pickLate(dice.pickLate([...this.#ids.values()]) ?? [])
  }

  /** Remembers a cursor. It is valid only for its page's sort order. */
  addCursor(path: string, sort: string | null, cursor: string) {
    this.#cursors.set(`${path} ${sort ?? ""}`, cursor)
  }

  cursor(path: string, sort: string | null): string | undefined {
    return this.#cursors.get(`${path} ${sort ?? ""}`)
  }
}

/** Adds an item. If the list is full, removes the oldest item that is not lasting. */
const remember = <A extends { readonly isLasting: boolean }>(list: Array<A>, one: A) => {
  list.push(one)
  if (list.length <= memory) return
  const at = list.findIndex(({ isLasting }) => !isLasting)
  if (at !== -1) list.splice(at, 1)
}
