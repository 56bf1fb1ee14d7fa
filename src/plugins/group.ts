import { JsExpression, type PluginRow } from './row.ts';

/**
 * The rows that load something, groups resolved (X13.5): a member is disabled when its group is, waits also for what the
 * group waits for, and shares the services that the group has apart from everybody else.
 */
export function membersOf(rows: readonly PluginRow[]): PluginRow[] {
  return rows.flatMap((row) => {
    const { group } = row;
    return group === undefined ? [row] : membersOf(group.map((member) => within(row, member)));
  });
}

function within(group: PluginRow, member: PluginRow): PluginRow {
  const disabled = either(group.disabled, member.disabled);
  const inject = both(group.inject, member.inject);
  const isolate = group.isolate === undefined ? member.isolate : {
    // apart from everybody else, but not from each other
    ...Object.fromEntries(Object.entries(group.isolate).map(([service, label]) => [service, label === true ? `group ${group.place.file} ${group.id}` : label])),
    ...member.isolate,
  };
  const { disabled: _disabled, inject: _inject, isolate: _isolate, ...rest } = member;
  return {
    ...rest, ...(disabled === undefined ? {} : { disabled }), ...(inject === undefined ? {} : { inject }), ...(isolate === undefined ? {} : { isolate }),
  };
}

function either(group: PluginRow['disabled'], member: PluginRow['disabled']): PluginRow['disabled'] {
  if (group === true || member === true) return true;
  if (group instanceof JsExpression && member instanceof JsExpression) return new JsExpression(`(${group.source}) === true || (${member.source}) === true`, group.place);
  return group instanceof JsExpression ? group : member ?? group;
}

function both(group: PluginRow['inject'], member: PluginRow['inject']): PluginRow['inject'] {
  if (group === undefined || member === undefined) return member ?? group;
  if (isList(group) && isList(member)) return [...new Set([...group, ...member])];
  return { ...asConfigs(group), ...asConfigs(member) };
}

function isList(inject: NonNullable<PluginRow['inject']>): inject is readonly string[] {
  return Array.isArray(inject);
}

function asConfigs(inject: NonNullable<PluginRow['inject']>): Readonly<Record<string, unknown>> {
  return isList(inject) ? Object.fromEntries(inject.map((service) => [service, undefined])) : inject;
}
