import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { Socket } from "node:net"
import { FairGate } from "./FairGate.ts"
import { networkOf } from "./networkOf.ts"

/**
 * Everybody may hold this many times as much of a thing as is still free. So one client alone gets
 * most of the node, many get equal parts, and however much they hold, a newcomer finds some. (Dynamic
 * thresholds, as the runner's slots have.)
 */
const share = 4

const uploadsAtOnce = 16

/** What clients share, and how much of it somebody holds. */
export interface Holdings {
  /** Requests that are worked on. */
  requests: number
  /** Of request bodies that are in memory. */
  bodyBytes: number
  /** Of answers that their readers have not taken yet. */
  unsentBytes: number
}

/** All who ask from one address, or one network of IPv6. */
class Address implements Holdings {
  requests = 0
  bodyBytes = 0
  unsentBytes = 0
  connections = 0
  /** By their credential, which nobody has verified yet. */
  readonly clients = new Map<string, Client>()
  readonly network: string

  constructor(network: string) {
    this.network = network
  }
}

/**
 * Who asks with one credential from one address. Behind a proxy that is not trusted all have one
 * address: it is the credential that tells them apart there.
 */
export class Client implements Holdings {
  requests = 0
  bodyBytes = 0
  unsentBytes = 0
  /** By connections that came with it last, and by its requests. */
  #uses = 0
  #uploads: FairGate<Client> | undefined
  readonly #clients: Clients
  readonly address: Address
  readonly credential: string

  constructor(clients: Clients, address: Address, credential: string) {
    this.#clients = clients
    this.address = address
    this.credential = credential
  }

  /**
   * For receiving long bodies: what waits stays with whoever sends it. A thousand at once came faster
   * than they could be looked at, and everybody waited for a second.
   */
  get uploads(): FairGate<Client> {
    return (this.#uploads ??= new FairGate(uploadsAtOnce))
  }

  hold(what: keyof Holdings, amount: number): void {
    this[what] += amount
    this.address[what] += amount
  }

  /** Whether it may hold more, where so much is free for all. */
  mayHold(what: keyof Holdings, free: number): boolean {
    return this[what] < share * (share * free - this.address[what])
  }

  use(): this {
    this.#uses++
    return this
  }

  release(): void {
    if (--this.#uses === 0) this.#clients.forget(this)
  }
}

interface Connection {
  readonly clients: Clients
  readonly address: Address
  /** Of the latest request, with what it was found by. */
  client: Client
  ip: string
}

const connections = new WeakMap<Duplex, Connection>()

/** Who a connection serves at the moment. */
export const clientAt = (socket: Duplex): Client | undefined => connections.get(socket)?.client

/** The client that sent a request; found once for all its requests on a connection. */
export const clientOf = (
  message: Pick<IncomingMessage, "headers" | "socket">,
  ip: string
): Client => {
  const { headers, socket } = message
  const connection = connections.get(socket)
  if (connection === undefined) throw new Error("a request on a connection that was not admitted")
  const { authorization = "" } = headers
  const credential = authorization.length > maxCredential ? tooLong : authorization
  const { client } = connection
  if (connection.ip === ip && client.credential === credential) return client
  const found = connection.clients.find(ip, credential).use()
  client.release()
  connection.client = found
  connection.ip = ip
  return found
}

/** The clients of a node: those who have a connection or a request now. */
export class Clients {
  connections = 0
  readonly #addresses = new Map<string, Address>()

  /** Whether somebody may have one more connection, where so many are free for all. */
  admit(socket: Socket, free: number): boolean {
    if (connections.has(socket)) return true
    const ip = socket.remoteAddress ?? ""
    const client = this.find(ip, "")
    const { address } = client
    if (address.connections >= share * free) {
      client.use().release()
      return false
    }
    client.use()
    address.connections++
    this.connections++
    const connection = { clients: this, address, client, ip }
    connections.set(socket, connection)
    socket.once("close", () => {
      address.connections--
      this.connections--
      connection.client.release()
      this.#forgetAddress(address)
    })
    return true
  }

  find(ip: string, credential: string): Client {
    const network = networkOf(ip)
    let address = this.#addresses.get(network)
    if (address === undefined) {
      address = new Address(network)
      this.#addresses.set(network, address)
    }
    let client = address.clients.get(credential)
    if (client === undefined) {
      client = new Client(this, address, credential)
      address.clients.set(credential, client)
    }
    return client
  }

  forget(client: Client): void {
    const { address, credential } = client
    // A request may outlive its connection, and another have come with its credential since.
    if (address.clients.get(credential) === client) address.clients.delete(credential)
    this.#forgetAddress(address)
  }

  #forgetAddress(address: Address): void {
    if (address.connections === 0 && address.clients.size === 0) {
      this.#addresses.delete(address.network)
    }
  }
}

/** None of ours is longer, and one is kept for each connection. */
const maxCredential = 1_024
const tooLong = "too long"
