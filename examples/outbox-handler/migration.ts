import { Migration } from '@mikro-orm/migrations';

/** The shop's tables; those of the library come with it. Plain SQL that SQLite and PostgreSQL both take. */
export class CreateShop extends Migration {
  override up(): void {
    this.addSql(
      'create table shop_order (id varchar(255) primary key, customer varchar(255) not null, pay_by varchar(255) not null, cents integer not null)',
    );
    this.addSql(
      'create table shop_receipt_line (id varchar(255) primary key, "order" varchar(255) not null, text varchar(255) not null, cents integer not null)',
    );
    this.addSql(
      'create table shop_payment (id varchar(255) primary key, "order" varchar(255) not null, pay_by varchar(255) not null, cents integer not null)',
    );
  }

  override down(): void {
    for (const table of ['shop_order', 'shop_receipt_line', 'shop_payment']) this.addSql(`drop table ${table}`);
  }
}
