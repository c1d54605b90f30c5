import type { ApiKey, ApiKeyUsage, UsedAddress } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { Card, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Badge } from "../ui/values/Status.tsx"
import { Ago, At } from "../ui/values/Time.tsx"
import { keyUsageOptions } from "./queries.ts"

/** What a key has used of what it may, and from where. */
export const KeyUsage = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const { workspaceId } = useWorkspace()
  const { data, error, refetch } = useQuery(keyUsageOptions(workspaceId, apiKey.id))
  if (error !== null) return <Problem error={error} retry={refetch} />
  if (data === undefined) return <Skeleton className="h-72" />
  const isYoung = data.suggestion.advice === "wait"
  return (
    <>
      <Section title="What it used">
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
                      <Ago at={last_used_at} />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="border-t border-line px-5 py-2.5 text-xs text-faint">
            As seen since <At at={data.observed_since} />.
          </p>
        </Card>
      </Section>
      <Addresses title="Used from" addresses={data.addresses} none="Nobody has used it yet." />
      {(apiKey.allowed_ips !== null || data.refused_addresses.length > 0) && (
        <Addresses
          title="Refused from"
          addresses={data.refused_addresses}
          none="It was never refused because of its address."
        />
      )}
    </>
  )
}

const Advice = ({
  apiKey,
  usage: { suggestion }
}: {
  readonly apiKey: ApiKey
  readonly usage: ApiKeyUsage
}) => {
  const { workspaceId } = useWorkspace()
  const text = {
    keep: undefined,
    wait: "The key is too new to say which scopes it does not need.",
    narrow:
      "This key has scopes it has never used. Replace it with a narrower one, which is worth less to a thief.",
    revoke: "Nobody has used it. Revoke it, unless you know what it is for."
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
          Make a narrower key
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
          <Ago at={last_used_at} />
        </p>
      ))}
      {addresses.length === 0 && <p className="px-5 py-4 text-faint">{none}</p>}
    </Card>
  </Section>
)
