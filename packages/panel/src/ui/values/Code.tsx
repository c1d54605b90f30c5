import { useState } from "react"
import { CopyButton } from "./Copy.tsx"
import { Tabs } from "../layout/Tabs.tsx"

export const Code = ({
  label,
  text,
  wrap = false
}: {
  readonly text: string
  readonly label: string
  readonly wrap?: boolean
}) => (
  <div className="group flex min-w-0 items-start rounded-lg border border-line bg-sunken">
    <pre
      role="region"
      tabIndex={0}
      aria-label={label}
      className={`max-h-96 min-w-0 grow overflow-auto py-3 pr-2 pl-3.5 font-mono text-sm ${wrap ? "break-words whitespace-pre-wrap" : ""}`}
    >
      {text}
    </pre>
    <div className="-my-px shrink-0 p-1.5">
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  </div>
)

export const Snippets = ({
  label,
  snippets
}: {
  readonly label: string
  readonly snippets: ReadonlyArray<readonly [name: string, text: string]>
}) => {
  const [chosen, choose] = useState(snippets[0]?.[0] ?? "")
  const text = snippets.find(([name]) => name === chosen)?.[1] ?? ""
  return (
    <div className="min-w-0">
      <Tabs
        label={label}
        chosen={chosen}
        tabs={snippets.map(([name]) => [name, name] as const)}
        onChoose={choose}
      >
        <Code label={`${label}: ${chosen}`} text={text} />
      </Tabs>
    </div>
  )
}
