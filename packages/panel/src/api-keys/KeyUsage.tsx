import type { ApiKey, ApiKeyUsage, UsedAddress } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { Badge } from "../ui/values/Status.tsx"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"
import { keyUsageOptions } from "./queries.ts"

export const KeyUsage = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const { workspaceId } = useWorkspace()
  return (
    <Loaded query={useQuery(keyUsageOptions(workspaceId, apiKey.id))} height="h-72">
      {(usage) => <Usage apiKey={apiKey} usage={usage} />}
    </Loaded>
  )
}

interface Props {
  readonly apiKey: ApiKey
  readonly usage: ApiKeyUsage
}

const Usage = ({ apiKey, usage: data }: Props) => {
  const isYoung = data.suggestion.advice === "wait"
  return (
    <>
      <Section title="Used scopes">
        <Card>
          <Advice apiKey={apiKey} usage={data} />
          <table className="w-full">
            <thead className="sr-only">
              <tr>
                <th>Scope</th>
                <th>Last used</th>
              </tr>
            </thead>
            <tbody>
              {data.scopes.map(({ last_used_at, scope }) => (
                <tr key={scope} className="border-b border-line last:border-b-0">
                  <th scope="row" className="px-5 py-2.5 text-left font-mono text-sm font-normal">
                    {scope}
                  </th>
                  <td className="px-5 text-right">
                    {last_used_at === null ? (
                      <Badge tone={isYoung ? "none" : "warn"}>never used</Badge>
                    ) : (
                      <RelativeTime at={last_used_at} />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="border-t border-line px-5 py-2.5 text-xs text-faint">
            Recorded since <ShortTime at={data.observed_since} />.
          </p>
        </Card>
      </Section>
      <Addresses
        title="Addresses"
        addresses={data.addresses}
        none="The key has not been used yet."
      />
      {(apiKey.allowed_ips !== null || data.refused_addresses.length > 0) && (
        <Addresses
          title="Rejected addresses"
          addresses={data.refused_addresses}
          none="No request was rejected because of its address."
        />
      )}
    </>
  )
}

const Advice = ({ apiKey, usage: { suggestion } }: Props) => {
  const { workspaceId } = useWorkspace()
  const text = {
    keep: undefined,
    wait: "The key is too new to suggest fewer scopes.",
    narrow:
      "This key has scopes that it has never used. Replace it with a key with fewer scopes, which does less damage if it leaks.",
    revoke: "This key has never been used. Revoke it, unless you know its purpose."
  }[suggestion.advice]
  if (text === undefined || !apiKey.is_active) return null
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3 text-soft">
      <p className="max-w-[32rem]">{text}</p>
      {suggestion.advice === "narrow" && (
        <ButtonLink
          size="small"
          to="/w/$workspaceId/keys/new"
          params={{ workspaceId }}
          search={{ name: apiKey.name, scopes: suggestion.scopes.join(",") }}
        >
          Create a key with fewer scopes
        </ButtonLink>
      )}
    </div>
  )
}

const Addresses = ({
  addresses,
  none,
  title
}: {
  readonly title: string
  readonly addresses: ReadonlyArray<UsedAddress>
  readonly none: string
}) => (
  <Section title={title}>
    <Card className="divide-y divide-line">
      {addresses.map(({ ip, last_used_at }) => (
        <p key={ip} className="flex justify-between gap-4 px-5 py-2.5">
          <span className="min-w-0 truncate font-mono text-sm">{ip}</span>
          <RelativeTime at={last_used_at} />
        </p>
      ))}
      {addresses.length === 0 && <p className="px-5 py-4 text-faint">{none}</p>}
    </Card>
  </Section>
)
