/** The statements that `work` sends, as MikroORM sends them: with their values in them. */
export async function statementsOf(orm, work) {
  const connection = orm.em.getConnection();
  const platform = orm.em.getPlatform();
  const execute = connection.execute;
  const statements = [];
  connection.execute = function (sql, params, ...more) {
    statements.push(platform.formatQuery(sql, params));
    return execute.call(this, sql, params, ...more);
  };

  await work();

  connection.execute = execute;
  return statements;
}

/** How PostgreSQL would run a statement: through which indexes, and which of the tables it would read whole. */
export async function planOf(orm, statement) {
  const [row] = await orm.em.getConnection().execute(`explain (format json) ${statement}`);
  const nodes = [...nodesOf(row['QUERY PLAN'][0].Plan)];

  return {
    indexes: [...new Set(nodes.map(node => node['Index Name']).filter(Boolean))],
    readWhole: nodes.filter(node => node['Node Type'] === 'Seq Scan').map(node => node['Relation Name']),
  };
}

function* nodesOf(node) {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}
