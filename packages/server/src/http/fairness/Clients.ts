import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { Socket } from "node:net"
import { FairQueue, yieldToEventLoop } from "./FairQueue.ts"
import { networkOf } from "./networkOf.ts"

/**
 * A client may hold this many times as much as is free. A client that is alone gets most of the
 * node's capacity, many clients get equal parts, and a new client always finds some capacity. These
 * are dynamic thresholds, as for the runner's slots.
 */
const share = 4

const maxConcurrentUploads = 16

/** How much a client holds of each resource that all clients share. */
export interface ClientUsage {
  /** Requests in progress. */
  requests: number
  /** Bytes of request bodies in memory. */
  bodyBytes: number
  /** Bytes of responses that are not yet sent. */
  unsentBytes: number
}

/** All clients of one IPv4 address or one IPv6 network. */
class Address implements ClientUsage {
  requests = 0
  bodyBytes = 0
  unsentBytes = 0
  connections = 0
  /** The clients by their credential, which is not verified yet. */
  readonly clients = new Map<string, Client>()
  readonly network: string

  constructor(network: string) {
    this.network = network
  }
}

/**
 * A client: one credential that is used from one address. Behind an untrusted proxy all clients
 * have the same address, and only the credential distinguishes them.
 */
export class Client implements ClientUsage {
  requests = 0
  bodyBytes = 0
  unsentBytes = 0
  /** Number of connections whose latest request had this credential, plus requests in progress. */
  #uses = 0
  #uploads: FairQueue<Client> | undefined
  readonly #clients: Clients
  readonly address: Address
  readonly credential: string

  constructor(clients: Clients, address: Address, credential: string) {
    this.#clients = clients
    this.address = address
    this.credential = credential
  }

  /**
   * Limits how many long bodies of the client are received at the same time. Further bodies stay
   * unread for now, because a thousand at once would arrive faster than they can be checked.
   */
  get uploads(): FairQueue<Client> {
    return (this.#uploads ??= new FairQueue({
      atOnce: maxConcurrentUploads,
      pause: yieldToEventLoop
    }))
  }

  hold(what: keyof ClientUsage, amount: number): void {
    this[what] += amount
    this.address[what] += amount
  }

  /** Returns true if the client may hold more while `free` is left for all clients. */
  mayHold(what: keyof ClientUsage, free: number): boolean {
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
  /** The client of the latest request, found by `ip` and its credential. */
  client: Client
  ip: string
}

const connections = new WeakMap<Duplex, Connection>()

/** The client that a connection currently serves. */
export const clientAt = (socket: Duplex): Client | undefined => connections.get(socket)?.client

/**
 * Returns the client that sent a request. Requests of the same client on a connection are looked up
 * only once.
 */
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

/** The clients of a node that have an open connection or a request in progress. */
export class Clients {
  connections = 0
  readonly #addresses = new Map<string, Address>()

  /**
   * Counts a new connection from the socket's address. Returns false, without counting it, if the
   * address has reached its share of the `free` connections that are left for all addresses.
   */
  admit(socket: Socket, free: number): boolean {
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
    // The client may already have been replaced, because a request can outlive its connection. So
    // only this client is removed.
    if (address.clients.get(credential) === client) address.clients.delete(credential)
    this.#forgetAddress(address)
  }

  #forgetAddress(address: Address): void {
    if (address.connections === 0 && address.clients.size === 0) {
      this.#addresses.delete(address.network)
    }
  }
}

/** The maximum length of a credential, because each connection keeps one in memory. */
const maxCredential = 1_024
const tooLong = "too long"
