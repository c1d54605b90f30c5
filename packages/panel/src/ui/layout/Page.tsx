import { type ReactNode, use, useEffect, useId } from "react"
import { classes } from "../classes.ts"
import { stripDirectionMarks } from "../values/stripDirectionMarks.ts"
import { TitlePrefix } from "./TitlePrefix.ts"

export const Page = ({
  actions,
  above,
  children,
  description,
  title,
  width = "wide",
  name
}: {
  readonly title: ReactNode
  /** The browser tab's title, if `title` is not a string. */
  readonly name?: string
  readonly above?: ReactNode
  readonly description?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly width?: "wide" | "narrow"
}) => {
  const heading = stripDirectionMarks(name ?? (typeof title === "string" ? title : "Scheduling"))
  const mark = use(TitlePrefix)
  useEffect(() => {
    document.title = `${mark === undefined ? "" : `(${mark}) `}${heading} · Scheduling`
  }, [heading, mark])
  return (
    // Wide and narrow pages start at the same left edge, so that nothing moves when the user
    // changes pages.
    <div className="mx-auto w-full max-w-[76rem] px-4 pt-6 pb-16 sm:px-8 sm:pt-8">
      <div className={width === "wide" ? undefined : "max-w-[40rem]"}>
        {above !== undefined && <div className="mb-2 text-sm text-faint">{above}</div>}
        <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
          <div className="min-w-0">
            <h1 className="text-xl font-semibold tracking-tight wrap-anywhere">
              {typeof title === "string" ? stripDirectionMarks(title) : title}
            </h1>
            {description !== undefined && (
              <div className="mt-1 max-w-[48rem] wrap-anywhere text-soft">{description}</div>
            )}
          </div>
          {actions !== undefined && (
            <div className="flex flex-wrap items-center gap-2">{actions}</div>
          )}
        </header>
        {children}
      </div>
    </div>
  )
}

export const Section = ({
  actions,
  children,
  className,
  title
}: {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}) => {
  const id = useId()
  return (
    <section
      role={title === undefined ? undefined : "group"}
      aria-labelledby={title === undefined ? undefined : id}
      className={classes("min-w-0", className)}
    >
      {(title !== undefined || actions !== undefined) && (
        <header className="mb-3 flex min-h-7 items-center justify-between gap-4">
          <h2 id={id} className="text-base font-semibold">
            {title}
          </h2>
          {/* Tall buttons must not make this header higher than the one beside it. */}
          {actions !== undefined && <div className="-my-1">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  )
}

export const Card = ({
  children,
  className
}: {
  readonly children: ReactNode
  readonly className?: string
}) => (
  <div
    className={classes("min-w-0 rounded-xl border border-line bg-surface shadow-card", className)}
  >
    {children}
  </div>
)

/** Values by name. Values that are null, undefined, false or an empty string are not shown. */
export type FactsByName = Readonly<Record<string, ReactNode>>

const isSet = (value: ReactNode) => value != null && value !== false && value !== ""

export const Facts = ({ facts }: { readonly facts: FactsByName }) => (
  <dl className="grid grid-cols-[fit-content(11rem)_1fr] gap-x-6 gap-y-2.5">
    {Object.entries(facts).map(
      ([name, value]) =>
        isSet(value) && (
          <div key={name} className="contents">
            <dt className="min-w-28 text-faint">{name}</dt>
            <dd className="min-w-0 wrap-anywhere">{value}</dd>
          </div>
        )
    )}
  </dl>
)

export const FactsSection = ({
  actions,
  facts,
  title
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly facts: FactsByName
}) => (
  <Section title={title} actions={actions}>
    <Card className="p-5">
      <Facts facts={facts} />
    </Card>
  </Section>
)

/** A list's empty state: the purpose of its records and how to create the first one. */
export const EmptyState = ({
  action,
  children,
  icon,
  title
}: {
  readonly title: string
  readonly icon?: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
}) => (
  <div
    className={classes(
      "flex flex-col items-center gap-3 rounded-xl border border-dashed border-edge px-6 text-center",
      icon === undefined && action === undefined ? "py-8" : "py-14"
    )}
  >
    {icon !== undefined && (
      <div className="grid size-10 place-items-center rounded-full bg-sunken text-faint [&_svg]:size-5">
        {icon}
      </div>
    )}
    <p className={icon === undefined ? "font-semibold" : "text-lg font-semibold"}>{title}</p>
    {children !== undefined && (
      <div className="w-full max-w-[32rem] min-w-0 text-balance text-soft">{children}</div>
    )}
    {action !== undefined && (
      <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>
    )}
  </div>
)

export const Skeleton = ({ className }: { readonly className?: string }) => (
  <div aria-hidden className={classes("rounded-md shimmer", className)} />
)
